"""Words that are written twice are found, but not those that are repeated on purpose."""

import pytest

from kebab.review.rules.repeated_word import RepeatedWord
from tests.fakes.review import FakeSurroundings, make_document


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Open the the settings.", [" the"]),
        ("Open the\nthe settings.", ["\nthe"]),
        ("He had had enough.", []),
        ("It is on. On Monday it is off.", []),
        ("The theory", []),
    ],
)
def test_the_second_word_is_named(text: str, named: list[str]) -> None:
    found = RepeatedWord().check(make_document(text), FakeSurroundings())
    assert [text[one.start : one.end] for one in found] == named
