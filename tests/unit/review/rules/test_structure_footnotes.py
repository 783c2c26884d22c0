"""Footnotes are used and defined."""

import pytest

from kebab.parse.markdown_parts import read_markup
from kebab.review.rules.rule import Rule
from kebab.review.rules.structure import UndefinedFootnote, UnusedFootnote
from tests.fakes.review import FakeSurroundings, make_document


def _check(rule: Rule, text: str) -> list[str]:
    document = make_document(text, read_markup(text))
    return [text[one.start : one.end] for one in rule.check(document, FakeSurroundings())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a[^1]\n", ["[^1]"]),
        ("a[^note]\n", ["[^note]"]),
        ("a[^1] b[^x]\n\n[^1]: n\n", ["[^x]"]),
        ("a[^Note]\n\n[^note]: n\n", []),
        ("a[^1]\n\n!!! tip\n\n    [^1]: n\n", []),
        ('Match [^a-z] or [^abc]+ or ([^x]) or [^"].\n', []),
        ("`a[^1]` \\[^2]\n", []),
    ],
)
def test_a_footnote_that_is_used_is_defined(text: str, found: list[str]) -> None:
    assert _check(UndefinedFootnote(), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n\n[^1]: n\n", ["[^1]:"]),
        ("a[^1]\n\n[^1]: n\n[^2]: m\n", ["[^2]:"]),
        ("!!! tip\n\n    a[^1]\n\n[^1]: n\n", []),
    ],
)
def test_a_footnote_that_is_defined_is_used(text: str, found: list[str]) -> None:
    assert _check(UnusedFootnote(), text) == found


def test_many_footnotes_are_compared_in_linear_time() -> None:
    text = "".join(f"[^{number}]: note\n\n" for number in range(20_000))
    assert len(_check(UnusedFootnote(), text)) == 20_000
