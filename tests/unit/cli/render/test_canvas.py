import os
import pty

import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import (
    Canvas,
    create_canvas,
    format_duration,
    render_fields,
    uses_color,
)

BOTH = {"NO_COLOR": "1", "FORCE_COLOR": "1"}


@pytest.fixture
def terminal():
    """A channel that is a terminal."""
    near, far = pty.openpty()
    yield OutputChannel(far, "<stdout>")
    os.close(near)
    os.close(far)


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", BOTH, False, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_flag_decides_then_no_color_then_force_color(choice, environ, terminal, wanted):
    assert uses_color(choice, environ, is_terminal=terminal) is wanted


def test_a_pipe_is_never_decorated_or_broken():
    reader, writer = os.pipe()
    try:
        assert create_canvas(OutputChannel(writer, "<stdout>"), "auto") == Canvas()
    finally:
        os.close(reader)
        os.close(writer)


def test_a_terminal_takes_colour_links_and_changing_lines(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "72")

    assert create_canvas(terminal, "auto") == Canvas(
        width=72, color=True, links=True, live=True, height=24
    )


def test_a_dumb_terminal_takes_none_of_that(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "300")

    assert create_canvas(terminal, "auto") == Canvas(width=100)


def test_links_are_escape_sequences_only_where_they_work():
    assert Canvas().link("a", "/a") == "a"
    assert Canvas(links=True).link("a", None) == "a"
    assert Canvas(links=True).link("a", "/a") == "\x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\"


def test_paint_changes_nothing_without_colour():
    canvas = Canvas()
    looks = (
        canvas.strong,
        canvas.dim,
        canvas.match,
        canvas.success,
        canvas.warning,
        canvas.error,
        canvas.location,
    )

    assert {look("x") for look in looks} == {"x"}
    assert Canvas(color=True).error("x").endswith("x\x1b[0m")


def test_a_paragraph_fits_a_terminal_and_is_one_line_in_a_pipe():
    assert Canvas().wrap("word " * 40) == ["word " * 40]
    assert all(len(line) <= 40 for line in Canvas(width=40).wrap("word " * 40, "  "))


def test_a_note_is_wrapped_with_an_indent():
    words = "no vector search: cannot get the embedding model"

    assert Canvas(width=30).note(words) == [
        "note: no vector search: cannot",
        "      get the embedding model",
    ]
    assert Canvas().note(words) == [f"note: {words}"]
    assert Canvas(width=30, color=True).note("") == ["\x1b[33mnote:\x1b[0m "]


def test_text_in_backticks_is_not_wrapped():
    assert Canvas(width=30).hint("start it, or say `kebab ask --extractive`") == [
        "hint: start it, or say",
        "      `kebab ask --extractive`",
    ]
    command = "kebab search 'what there is to be known of it'"
    assert Canvas(width=30).hint(command) == [f"hint: {command}"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.038, "38 ms"),
        (1.24, "1.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (200.4, "3 min 20 s"),
        (3900, "1 h 5 min"),
    ],
)
def test_a_duration_is_readable(seconds, text):
    assert format_duration(seconds) == text


def test_long_values_and_texts_have_a_hanging_indent():
    canvas = Canvas(width=29)

    assert list(render_fields([("label", "one two three four five")], canvas)) == [
        "label  one two three four",
        "       five",
    ]
    assert canvas.hang("path: a message that is long", "  ", 4) == [
        "  path: a message that is",
        "    long",
    ]
