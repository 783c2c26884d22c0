from pathlib import Path

import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.review import render_no_page, render_outcome
from kebab.wire.review import TranslatedText
from tests.fakes import review_pages


def lines(translated=2, *, findings=(), score=None, target=None):
    text = TranslatedText(text="x", segments=2, translated=translated, findings=[])
    page = review_pages.page(None, translation=text)
    return list(render_outcome(page, findings, score, target, Canvas()))


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, ["2 of 2 segments translated"]),
        ({"findings": ["a", "b"]}, ["2 of 2 segments translated, 2 findings"]),
        ({"score": 0.82}, ["2 of 2 segments translated, rated 82%"]),
        ({"target": Path("b.md")}, ["2 of 2 segments translated", "written: b.md"]),
    ],
)
def test_the_outcome_says_what_became_of_the_segments(fields, shown):
    assert lines(**fields) == shown


def test_an_unfinished_translation_says_how_to_go_on():
    page = review_pages.page(None)
    shown = "\n".join(render_outcome(page, (), None, None, Canvas()))

    assert "not complete" in shown
    assert f"kebab translate --run-id {review_pages.RUN}" in shown


def test_a_page_is_no_text():
    assert render_no_page(review_pages.page(None), Canvas()) == ()
