import pytest

from kebab.app.file_text import join_passages, load_text
from kebab.core.chunks import Place
from kebab.core.documents import DocumentDetail, StoredDocument
from kebab.core.ids import DocId
from tests.fakes.evidence import stored
from tests.fakes.placed import register_formats

DOCUMENT = StoredDocument(
    *(DocId("1" * 32), "n", "/n", "a.pages", "A", "test/page", None, ()), *(1, 1, 1.0, 1), ()
)


def join(*chunks):
    return join_passages(DocumentDetail(DOCUMENT, "", "", "", "", chunks))


def part(text, line, **fields):
    return stored(text, start_line=line, end_line=line + text.count("\n"), **fields)


def test_passages_are_joined_at_their_lines():
    assert join(part("one\ntwo", 1), part("five", 5)).lines == ["one", "two", "", "", "five"]
    assert join(part("late", 3)).lines == ["", "", "late"]


@pytest.mark.parametrize(
    ("one", "other", "line"),
    [
        ("First.", "Second.", "First. Second."),
        ("한국어 문장이다.", "다음", "한국어 문장이다. 다음"),
        ("긴 문장의 앞", "뒤", "긴 문장의 앞 뒤"),
        ("最初。", "次", "最初。次"),
    ],
)
def test_two_passages_of_one_line_are_one_line(one, other, line):
    assert join(part(one, 1), part(other, 1)).lines == [line]


def test_offsets_of_places_say_whether_a_blank_is_between_passages():
    word = part("wordwi", 1, place=Place(0, 1))

    assert join(word, part("thout", 1, place=Place(6, 1))).lines == ["wordwithout"]
    assert join(word, part("with", 1, place=Place(7, 1))).lines == ["wordwi with"]


def test_headings_are_found_where_passages_begin_with_them():
    text = join(
        part("# One\n\n## Two\n\ntext\n# no heading", 1, heading_path=("One", "Two")),
        part("# comment of code", 7, heading_path=("One", "Two")),
        part("## Three is long\n\ntext", 9, heading_path=("One", "Three is…")),
    )

    assert [(one.title, one.level, one.first, one.last) for one in text.sections] == [
        ("One", 1, 1, 11),
        ("Two", 2, 3, 7),
        ("Three is long", 2, 9, 11),
    ]


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
