import pytest

from kebab.core.documents import BlockKind
from kebab.parse.text.asciidoc import AsciiDocParser
from tests.shape.tree import ROOT

GUIDE = (ROOT / "samples" / "formats" / "harbour.adoc").read_text(encoding="utf-8")


def parse(source):
    return AsciiDocParser().parse(source.encode(), "docs/a.adoc")


def list_blocks(source):
    document = parse(source)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def list_headings(source):
    return [(one.level, one.label) for one in parse(source).blocks if one.level]


def test_the_header_is_metadata():
    document = parse(GUIDE)

    assert document.title == "The Heron harbour guide"
    assert document.metadata.authors == ("Mina Park", "Jun Sato")
    assert document.metadata.date == "2024-04-05"
    assert document.metadata.tags == ("harbour", "mooring")
    assert document.links == ("parts/depths.adoc", "fees.adoc")


def test_comments_attributes_and_passed_markup_are_left_out():
    found = "\n".join(text for _, text in list_blocks(GUIDE))

    for word in ("secret", "hidden", "blink", ":toc:", "include::", "[[arrival]]", "'''"):
        assert word not in found
    for word in ("channel 12", "An example of a knot", "tie --double", "Slow is pro"):
        assert word in found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (BlockKind.CODE, "----\n= x\n\n----"),
        (BlockKind.CODE, "....\nliteral\n...."),
        (BlockKind.CODE, " indented\n text"),
        (BlockKind.TABLE, "|===\n|a |b\n\n|1 |2\n|==="),
        (BlockKind.TABLE, ",===\na,b\n,==="),
        (BlockKind.QUOTE, "____\nWords\n____"),
        (BlockKind.PARAGRAPH, "* one\n** two"),
        (BlockKind.PARAGRAPH, "[quote, Me]\nterm:: meaning\nother::\n  meaning"),
        (BlockKind.PARAGRAPH, "NOTE: Take care\nof it."),
        (BlockKind.PARAGRAPH, "Two lines\nof text"),
    ],
)
def test_a_construct_is_one_block(kind, text):
    assert list_blocks(f"Before\n\n{text}\n\nAfter\n")[1:-1] == [(kind, text)]


def test_a_delimiter_that_is_never_closed_hides_nothing():
    assert list_blocks("----\ncode\n\n== Title\n") == [
        (BlockKind.PARAGRAPH, "code"),
        (BlockKind.HEADING, "== Title"),
    ]


def test_underlined_titles_have_the_length_of_their_rule():
    assert list_headings("Title\n=====\n\nPart\n----\n\nno title at all\n----\ncode\n----\n") == [
        (1, "Title"),
        (2, "Part"),
    ]


def test_text_below_the_title_is_no_author():
    document = parse("= Title\nThis is a first paragraph of text\nwith two lines\n")

    assert document.metadata.authors == ()
    assert "first paragraph" in document.text[document.blocks[1].start :]


@pytest.mark.processor_s(4)
def test_time_is_linear():
    for hostile in ("----\n....\n" * 8_000, "* x\n+\n" * 12_000, "<<" * 40_000, "[" * 40_000):
        parse(hostile)
