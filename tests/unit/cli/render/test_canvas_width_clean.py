import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.render.canvas import clean, clean_lines


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


@given(st.text())
def test_every_code_point_keeps_its_place(text):
    assert len(clean(text)) == len(text)
    assert "\x1b" not in clean(text)
    assert "\n" not in clean(text)


def test_lines_and_tabs_of_a_file_stay():
    assert clean_lines("a\tb\n\x1b[2Jc\n") == "a\tb\n\ufffd[2Jc\n"
