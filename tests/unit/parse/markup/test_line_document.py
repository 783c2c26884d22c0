import pytest

from kebab.core.documents import BlockKind, Metadata
from kebab.parse.blocks import Span
from kebab.parse.encoding import decode
from kebab.parse.markup.line_document import (
    Lines,
    build_line_document,
    find_date,
    read_metadata,
    split_names,
)


def test_a_document_holds_the_text_its_blocks_and_each_link_once():
    decoded = decode(b"Title\n\nhidden\n\ntext\n")
    spans = [Span(BlockKind.HEADING, 0, 1, 1, "Title"), Span(None, 2, 3)]
    document = build_line_document(decoded, "a.rst", spans, Metadata(), ["b", "c", "b"])

    assert document.title == "Title"
    assert [document.text[one.start : one.end] for one in document.blocks] == ["Title", "text"]
    assert document.links == ("b", "c")


def test_lines_know_their_indents():
    lines = Lines("a\n\tb\n\n  c\nd")

    assert lines.indents == [0, 8, -1, 2, 0]
    assert lines.find_dedent(1, 5, 2) == 4
    assert lines.find_blank(0, 5) == 2
    assert lines.skip_blank(2, 5) == 3


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("2024-05-01", "2024-05-01"),
        ("<2024-05-01 Wed>", "2024-05-01"),
        ("$Date: 2020/1/9 $", "2020-01-09"),
        ("2024-13-01", None),
        ("yesterday", None),
    ],
)
def test_dates_are_iso(value, date):
    assert find_date(value) == date


def test_names_are_split_and_lose_addresses():
    assert split_names("Ana Li <ana@x.org>, Bo\nBo", ",") == ("Ana Li", "Bo")


def test_fields_become_metadata():
    assert read_metadata(
        {"title": "T", "author": "A, B", "tags": "x; y", "language": "ko_KR", "date": "2024-05-01"}
    ) == Metadata(title="T", tags=("x", "y"), lang="ko", authors=("A", "B"), date="2024-05-01")
    assert read_metadata({"filetags": ":work:home:"}).tags == ("work", "home")
