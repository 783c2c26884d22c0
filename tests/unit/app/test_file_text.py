import pytest

from kebab.app.file_text import join_passages, load_text, parse_file
from kebab.chunk.sections import find_section, find_section_by_title, list_sections
from kebab.core.chunks import DocId, Place
from kebab.core.documents import DocumentDetail, StoredDocument
from kebab.core.files import IMAGE
from kebab.core.media import PDF
from kebab.ingest.build import compute_recipes
from kebab.parse.registry import PARSERS
from tests.fakes.evidence import stored
from tests.fakes.placed import register_formats

DOCUMENT = StoredDocument(
    *(DocId("1" * 32), "n", "/n", "a.pages", "A", "test/page", None, ()), *(1, 1, 1.0, 1), ()
)


def join(*chunks):
    return join_passages(DocumentDetail(DOCUMENT, "", "", "", "", chunks))


def part(text, line, **fields):
    return stored(text, start_line=line, end_line=line + text.count("\n"), **fields)


@pytest.mark.parametrize(
    ("one", "other", "line"),
    [
        ("First.", "Second.", "First. Second."),
        ("最初。", "次", "最初。次"),
    ],
)
def test_two_passages_of_one_line_are_one_line(one, other, line):
    assert join(part(one, 1), part(other, 1)).lines == [line]


def test_offsets_of_places_say_whether_a_blank_is_between_passages():
    word = part("wordwi", 1, place=Place(0, 1))

    assert join(word, part("thout", 1, place=Place(6, 1))).lines == ["wordwithout"]
    assert join(word, part("with", 1, place=Place(7, 1))).lines == ["wordwi with"]


@pytest.mark.parametrize("suffix", ["pages", "slides", "cells", "sheets", "sections"])
def test_passages_give_the_same_text_as_the_parser(desk, monkeypatch, suffix):
    register_formats(monkeypatch)
    words = " ".join(f"word{number}." for number in range(400))
    body = f"# A\nb\nc\n## D\n{words}\n# E\ne\f# F\nf"
    if suffix == "sheets":
        body = "Name\na,b\nc,d\n\n\ne,f\n" + "g,h\n" * 300 + "\fOther\ni"
    desk.write(f"a.{suffix}", body)
    desk.ingest(context=desk.context(index__chunk_tokens=64))
    context = desk.context()
    with context.open_catalogue() as catalogue:
        (name,) = catalogue.list_names()
        detail = catalogue.load_document(name.doc_id)
    indexed, parsed = load_text(context, detail, "fresh"), load_text(context, detail, "changed")

    assert len(detail.chunks) > 3
    assert indexed.lines == parsed.lines
    assert [one[1:] for one in indexed.places] == [one[1:] for one in parsed.places]
    assert [(one.title, one.first, one.last) for one in indexed.sections] == [
        (one.title, one.first, one.last) for one in parsed.sections
    ]
    for line in (1, len(parsed.lines) // 2, len(parsed.lines)):
        assert indexed.cite(line, line) == parsed.cite(line, line)


TEXT = """---
title: T
---
intro

# One

text

## Two A

a

### Deep

d

## Two B

b


# Other
"""


@pytest.fixture
def sections():
    return list_sections(parse_file(TEXT.encode(), "a.md", PARSERS["text/markdown"]))


def test_a_section_ends_before_the_next_heading_of_its_level(sections):
    assert [(one.title, one.level, one.first, one.last) for one in sections] == [
        ("One", 1, 6, 20),
        ("Two A", 2, 10, 16),
        ("Deep", 3, 14, 16),
        ("Two B", 2, 18, 20),
        ("Other", 1, 23, 23),
    ]
    assert [one.path for one in sections][2] == ("One", "Two A", "Deep")


@pytest.mark.parametrize(
    ("first", "last", "title"),
    [
        (16, 16, "Deep"),
        (20, 23, None),
    ],
)
def test_the_smallest_section_with_all_lines_is_found(sections, first, last, title):
    found = find_section(sections, first, last)

    assert (found.title if found else None) == title


@pytest.mark.parametrize("title", ["Two B", "two_b"])
def test_a_section_is_found_by_its_title_or_anchor(sections, title):
    found = find_section_by_title(sections, title)

    assert found is not None
    assert found.title == "Two B"
    assert find_section_by_title(sections, "three") is None


def test_a_symbol_ends_where_code_of_the_outer_one_goes_on():
    text = b"class A:\n    def f(self):\n        return 1\n\n    x = 2\n\ny = 3\n"
    sections = list_sections(parse_file(text, "a.py", PARSERS["text/x-python"]))
    assert [(one.path, one.first, one.last) for one in sections] == [
        (("A",), 1, 5),
        (("A", "f"), 2, 3),
    ]


def test_a_section_is_found_by_the_titles_above_it(sections):
    assert find_section_by_title(sections, "One/Two B") == sections[3]
    assert find_section_by_title(sections, "two a deep") == sections[2]
    assert find_section_by_title(sections, "One/Tw…") == sections[1]
    assert find_section_by_title(sections, "…") is None


def get_recipes(desk, **flags):
    return compute_recipes(desk.context(**flags).build_parsers(), "chunker")


@pytest.mark.parametrize(
    ("flags", "changed"),
    [
        ({"ingest__ocr": True, "ingest__ocr_languages": "kor"}, {PDF, IMAGE}),
        ({"ingest__ocr": "model", "models__vision": "eyes"}, {PDF, IMAGE}),
        ({"ingest__captions": True}, {IMAGE}),
    ],
)
def test_how_pictures_are_read_is_part_of_what_decides_their_text(desk, flags, changed):
    before, after = get_recipes(desk), get_recipes(desk, **flags)

    assert {media for media in before if before[media] != after[media]} == changed
