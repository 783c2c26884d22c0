import base64
import json

import pytest

from kebab.search.rerank import read_items


def test_lines_of_text_are_items_and_empty_lines_count():
    items = read_items(["one", "", "  ", "two words"])

    assert [(item.number, item.text) for item in items] == [(0, "one"), (3, "two words")]


@pytest.mark.parametrize(
    ("line", "path", "number", "text"),
    [
        ("a/b.md:12:the cat", "a/b.md", 12, "the cat"),
        ("a/b.md:12:7:the cat", "a/b.md", 12, "the cat"),
        ("my notes/b c.md:1:x: y", "my notes/b c.md", 1, "x: y"),
        ("12:the cat", None, 12, "the cat"),
        ("\x1b[35ma.md\x1b[0m:\x1b[32m3\x1b[0m:the \x1b[1mcat\x1b[0m", "a.md", 3, "the cat"),
    ],
)
def test_the_place_before_a_match_is_cut_off(line, path, number, text):
    (item,) = read_items([line])

    assert (item.path, item.line, item.text) == (path, number, text)


def test_lines_of_context_have_their_places_cut_off_too():
    items = read_items(["a.md:1:one", "a.md-2-two", "--", "b.md:9:three"])

    assert [(item.number, item.path, item.line, item.text) for item in items] == [
        (0, "a.md", 1, "one"),
        (1, "a.md", 2, "two"),
        (3, "b.md", 9, "three"),
    ]


def test_a_time_in_a_text_is_no_place():
    items = read_items(["at 10:30: meeting", "lunch", "a walk with the dog"])

    assert items[0].text == "at 10:30: meeting"


def test_events_of_ripgrep_are_items_only_when_they_match():
    match = {
        "type": "match",
        "data": {"path": {"text": "a.md"}, "lines": {"text": "a dog\n"}, "line_number": 3},
    }
    binary = {"bytes": base64.b64encode("caf\u00e9\n".encode()).decode()}
    events = [
        {"type": "begin", "data": {"path": {"text": "a.md"}}},
        match,
        {"type": "match", "data": {"path": binary, "lines": binary, "line_number": 4}},
        {"type": "context", "data": {"lines": {"text": "more\n"}}},
        {"type": "end", "data": {}},
        {"data": {}, "type": "summary"},
    ]

    first, second = read_items(list(map(json.dumps, events)))

    assert (first.number, first.text, first.path, first.line) == (1, "a dog", "a.md", 3)
    assert first.item == match
    assert second.text == "caf\u00e9"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"text": "a", "title": "b"}, "a"),
        ({"title": "b", "id": 4}, "b"),
        ({"name": "x", "note": "y", "n": 1}, "x y"),
    ],
)
def test_an_object_is_compared_by_its_text(fields, text):
    (item,) = read_items([json.dumps(fields)])

    assert (item.text, item.item) == (text, fields)


@pytest.mark.parametrize("line", ["{broken", "[1, 2]", "{'a': 1}"])
def test_a_line_that_is_no_object_is_text(line):
    (item,) = read_items([line])

    assert (item.text, item.item) == (line, None)


@pytest.mark.parametrize(
    "line",
    [
        '{"n": 1}',
        '{"type": "match", "data": {}}',
        '{"type":"match","data":{"lines":{"bytes":"?"}}}',
    ],
)
def test_an_object_without_text_is_left_out(line):
    assert read_items([line]) == []
