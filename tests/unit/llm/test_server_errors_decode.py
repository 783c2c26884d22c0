import pytest

from kebab.llm.server_errors import format_one_line, parse_count, parse_json_object


@pytest.mark.parametrize("raw", [b'{"a": "\xed\x95\x9c"}', '{"a": "한"}'])
def test_an_object_is_parsed(raw):
    assert parse_json_object(raw) == {"a": "한"}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[1]",
        b"null",
        b"<html>",
        b'{"a": "\xff"}',
        b'{"a": 1} {"b": 2}',
        b'{"a":' * 100_000,
        b'{"a": ' + b"1" * 10_000 + b"}",
    ],
    ids=range(8),
)
def test_other_input_is_none(raw):
    assert parse_json_object(raw) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  as it is ", "as it is"),
        ("한글 日本語", "한글 日本語"),
        ("error: x\npanic:\r\n\tgoroutine", "error: x panic: goroutine"),
        ("\x1b[31mred\x1b[0m\x00\u202eevil\ud800", "[31mred [0m evil"),
        ("", ""),
        ("\n" * 10_000 + "far", ""),
    ],
)
def test_a_text_becomes_one_printable_line(text, line):
    assert format_one_line(text) == line


def test_a_long_text_is_cut():
    assert format_one_line("x" * 1000) == "x" * 299 + "…"
    assert format_one_line("word " * 100, 10) == "word word…"


@pytest.mark.parametrize(
    ("value", "counted"),
    [(7, 7), (0, 0), (-1, 0), (True, 0), (None, 0), ("7", 0), (7.0, 0), (10**30, 0)],
)
def test_implausible_counts_are_zero(value, counted):
    assert parse_count(value) == counted
