import re

import pytest

from kebab.server.reader import TextToRender, render_text
from tests.hostile_notes import HOSTILE
from tests.unit.server.test_rendering import check


def render(text, *marks, **more):
    return render_text(TextToRender(text, marks=list(marks), **more))


@pytest.mark.parametrize("text", ["# Title here", "- Title here", "1. Title here", "> Title here"])
def test_a_mark_before_the_sign_of_a_block_begins_after_it(text):
    html = render(text, (0, len(text)))

    assert "Title here</mark>" in html
    assert not any(sign in html for sign in ("# ", "- ", "1. "))
    assert "<h1" not in html


def test_marks_keep_their_number_and_class_and_one_that_is_covered_is_left_out():
    html = render("one two three", (8, 13), (0, 3), (1, 2), labels=["cited", "doubtful", "x"])

    assert '<mark class="doubtful" data-mark="1">one</mark>' in html
    assert '<mark class="cited" data-mark="0">three</mark>' in html
    assert 'data-mark="2"' not in html


def test_markers_are_buttons_but_not_in_code_and_only_those_that_are_known():
    html = render("It is so [1][2]. `x[1]`", markers=[1])

    assert html.count("<button") == 1
    assert 'data-marker="1">1</button>[2]' in html
    assert "<code>x[1]</code>" in html


def test_a_heading_that_is_shown_elsewhere_is_left_out():
    html = render("## Oven\n\nIt is hot.", (3, 7), headings=["Oven"])

    assert "Oven" not in html
    assert "It is hot." in html


@pytest.mark.parametrize("text", [*HOSTILE, "\ue000\ue001"])
def test_a_hostile_text_is_text(text):
    check(render(text, (0, 5), markers=[1]))


@pytest.mark.parametrize(
    ("text", "shown", "raw"),
    [
        ("Oven\n====\n\nIt is hot.", "It is hot.", "="),
        ("====\n\nIt is hot.", "It is hot.", "="),
        ("| a | b |\n| c | d |", "<td>c</td>", "|"),
        ("|---|---|\n| c | d |", "<td>c</td>", "---"),
        ("ven|hot oven]] is on, see [[soup|the so", "hot oven is on, see the so", "[["),
        ("> [!tip] Heat\n> It is hot.", "Heat", "[!tip]"),
    ],
)
def test_what_a_snippet_cut_has_no_raw_signs(text, shown, raw):
    html = render(text, headings=["Oven"])

    assert shown in html
    assert raw not in re.sub("<[^>]*>", "", html)
