"""Entries of bibliographies."""

from pathlib import Path

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.parse.text.latex import BibtexParser

SAMPLE = Path("samples/formats/harbour.bib")


def parse(text: str):
    return BibtexParser().parse(text.encode(), "a.bib")


def test_each_entry_is_a_section():
    document = BibtexParser().parse(SAMPLE.read_bytes(), "harbour.bib")
    assert [block.label for block in document.blocks if block.label] == [
        "Tides and Trade in Kiel",
        "Drying Nets with α-Cellulose",
        "Proceedings on Nets",
    ]
    assert document.title == "harbour.bib"


@pytest.mark.parametrize(
    "text",
    [
        "@book{a, author={" + "b and " * 50_000 + "c}}",
        "@book{a, title={" + "{" * 250_000,
        "@book{" * 30_000,
        "no entries",
        '@string{a="xxxxxxxx"}' + "@string{a=a # a}" * 1_000 + "@book{b, title=a}",
        "@book{p, note={" + "x" * 100_000 + "}}" + "@book{a, crossref={p}}" * 3_000,
    ],
)
def test_hostile_bibliographies_cost_little(text):
    assert parse(text).text == text


def test_braces_and_accents_are_read_and_the_lines_are_those_of_the_file():
    document = BibtexParser().parse(SAMPLE.read_bytes(), "harbour.bib")
    chunks = split_document(document, Budget())
    assert [(one.start_line, one.end_line) for one in chunks] == [
        (1, 1),
        (3, 9),
        (12, 16),
        (19, 22),
    ]
    assert "Petersen, Jana and Götz, Karl and Harbour Society,\n" in chunks[1].text
