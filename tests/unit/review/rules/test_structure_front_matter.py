"""Front matter can be read and has the fields of its folder."""

import pytest

from kebab.parse.markdown_parts import read_markup
from kebab.review.rules.structure import MalformedFrontMatter, MissingFrontMatterField
from tests.fakes.review import FakeSurroundings, make_document


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("---\ntitle: A: b\n---\n", ["front matter is not valid YAML at line 2"]),
        ("---\ntitle: A\n\ntext\n", ["front matter is not closed"]),
        ("---\ntitle: A\n---\n", []),
        ("---\n\ntext\n\n---\n", []),
        ("text\n", []),
    ],
)
def test_damage_is_found_at_the_first_line(text: str, reasons: list[str]) -> None:
    document = make_document(text, read_markup(text))
    found = list(MalformedFrontMatter().check(document, FakeSurroundings()))
    assert [one.reason for one in found] == reasons
    assert all(text[one.start : one.end] == "---" for one in found)


@pytest.mark.parametrize(
    ("text", "path", "missing"),
    [
        ("---\nTitle: A\n---\n", "a.md", ["date"]),
        ("text\n", "a.md", ["date, title"]),
        ("", "a.md", ["date, title"]),
        ("---\ntitle: A\ndate: 2020-01-01\n---\n", "a.md", []),
        ("text\n", "README.md", []),
        ("text\n", "_part.md", []),
        ("text\n", "en/includes/part.md", []),
        ("---\ntitle: A\n---\n", "includes/part.md", ["date"]),
        ("---\ntitle: A: b\n---\n", "a.md", []),
    ],
)
def test_fields_that_the_other_notes_have_are_missed(
    text: str, path: str, missing: list[str]
) -> None:
    document = make_document(text, read_markup(text), path=path)
    usual = FakeSurroundings(usual_fields=frozenset({"title", "date"}))
    found = list(MissingFrontMatterField().check(document, usual))
    assert [one.reason.partition(": ")[2] for one in found] == missing
