"""Entries of bibliographies."""

from pathlib import Path

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.text.bibtex import BibtexParser

SAMPLE = Path("samples/formats/harbour.bib")


def parse(text: str):
    return BibtexParser().parse(text.encode(), "a.bib")


def test_each_entry_is_a_section_with_its_fields():
    document = BibtexParser().parse(SAMPLE.read_bytes(), "harbour.bib")
    assert [block.label for block in document.blocks if block.label] == [
        "Tides and Trade in Kiel",
        "Drying Nets with α-Cellulose",
        "Proceedings on Nets",
    ]
    assert "Authors: Jana Petersen, Karl Götz, Harbour Society\n" in document.text
    assert "Journal: Journal of Maritime History\n" in document.text
    assert "\n\nHow the tide tables of 1871 changed the herring trade.\n\n" in document.text
    inherited = "Year: 2021\n", "Booktitle: Proceedings on Nets\n", "Editors: Mi-rae Han\n"
    assert all(document.text.count(line.strip()) >= 1 for line in inherited)
    assert document.title == "harbour.bib"
    assert document.metadata.authors[:2] == ("Jana Petersen", "Karl Götz")


def test_text_without_entries_is_refused():
    with pytest.raises(ParseFailed, match="not a bibliography"):
        parse("no entries")


@pytest.mark.parametrize(
    "text",
    [
        "@book{a, author={" + "b and " * 50_000 + "c}}",
        "@book{a, title={" + "{" * 250_000,
        "@book{" * 30_000,
        '@string{a="xxxxxxxx"}' + "@string{a=a # a}" * 1_000 + "@book{b, title=a}",
        "@book{p, note={" + "x" * 100_000 + "}}" + "@book{a, crossref={p}}" * 3_000,
    ],
)
def test_hostile_bibliographies_cost_little(text):
    assert len(parse(text).text) < 3 * len(text)
