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


def test_a_file_of_one_entry_has_its_title_and_date():
    metadata = parse(
        "@book{a, title={The Sea}, date={2020-05-03}, author={Doe, Jr, Jane}}"
    ).metadata
    assert (metadata.title, metadata.date) == ("The Sea", "2020-05-03")
    assert metadata.authors == ("Jane Doe Jr",)


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ('@book(a, title="A {\'B"} C")', "# A 'B\" C"),
        ('@string{p = "Pier " # "3"}@book{a, publisher = p # { Press}}', "Publisher: Pier 3 Press"),
        ("@book{a, title={Not closed}\n@book{b, title={Closed}}", "# Closed"),
        ("@book{a, year = 1999,, title={T},}", "Year: 1999"),
        ("@online{a, url={http://x/a_b%20c}}", "URL: http://x/a_b%20c"),
    ],
)
def test_an_entry_is_read_in_all_forms(entry, line):
    assert line in parse(entry).text.split("\n")


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


def test_an_entry_with_very_many_fields_is_not_repeated_as_a_whole():
    fields = "".join(f"x{'a' * number}=1," for number in range(200))
    source = f"@book{{p,{fields}}}\n" + "@article{k,crossref=p}\n" * 100
    assert len(parse(source).text) < 20 * len(source)
