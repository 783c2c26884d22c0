import os
import pty

import msgspec
import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import Canvas, build_link, clean, create_canvas, uses_color
from kebab.config.settings import Output

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
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", BOTH, False, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_flag_decides_then_no_color_then_force_color(choice, environ, terminal, wanted):
    assert uses_color(choice, environ, is_terminal=terminal) is wanted


def test_a_terminal_takes_colour_links_and_changing_lines(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "72")

    assert create_canvas(terminal, "auto") == Canvas(
        width=72, color=True, links=True, live=True, height=24
    )


FILE = "/a b/백업.md"
PATH = "/a%20b/%EB%B0%B1%EC%97%85.md"


@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("default", f"file://{PATH}"),
        ("none", ""),
        ("editor://{path}?at={line}", f"editor://{PATH}?at=12"),
        ("vscode", f"vscode://file{PATH}:12"),
    ],
)
def test_each_format_has_its_address(form, link):
    assert build_link(FILE, 12, form) == link


@pytest.mark.parametrize("form", ["", "nonsense", "file://{line}"])
def test_the_setting_refuses_other_texts(form):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"hyperlink_format": form}, Output)


@pytest.mark.parametrize(
    ("form", "link"),
    [("default", "file:///a.pdf#page=3"), ("none", ""), ("vscode", "vscode://file/a.pdf:1")],
)
def test_a_link_to_the_file_itself_names_the_page(form, link):
    assert build_link("/a.pdf", None, form, page=3) == link


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 백업 👩‍🚀 é", "plain 백업 👩‍🚀 é"),
        ("\x1b[31mred\x1b]8;;http://x\x07", "\ufffd[31mred\ufffd]8;;http://x\ufffd"),
        ("a\rb\nc\td", "a b c d"),
        ("gpj\u202eexe.", "gpj\ufffdexe."),
        ("\u2066x\u2069\u200f", "\ufffdx\ufffd\ufffd"),
        ("\x9b2J", "\ufffd2J"),
        ("bad \udcff name", "bad \ufffd name"),
    ],
)
def test_control_characters_cannot_control_the_terminal(text, shown):
    assert clean(text) == shown
