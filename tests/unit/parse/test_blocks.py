from kebab.core.documents import Block, BlockKind, Metadata
from kebab.parse.blocks import (
    Span,
    build_blocks,
    build_line_document,
    exclude_lines,
    find_paragraphs,
    format_file_name,
    group_lines,
    isolate_lines,
    omit_gaps,
    shift_spans,
    shorten_line,
)
from kebab.parse.encoding import decode


def test_spans_lose_outer_blank_lines():
    text = "\n  a  \n\n"
    assert build_blocks(text, 0, [Span(BlockKind.LIST, 0, 3)]) == (Block(BlockKind.LIST, 1, 4),)


def test_lines_that_no_span_claims_become_paragraphs():
    text = "a\nb\n\nc\nd"
    blocks = build_blocks(text, 0, [Span(BlockKind.CODE, 3, 4)])
    assert [(block.kind, text[block.start : block.end]) for block in blocks] == [
        (BlockKind.PARAGRAPH, "a\nb"),
        (BlockKind.CODE, "c"),
        (BlockKind.PARAGRAPH, "d"),
    ]


def test_spans_that_overlap_are_cut():
    text = "a\nb\nc"
    blocks = build_blocks(text, 0, [Span(BlockKind.LIST, 0, 2), Span(BlockKind.LIST, 1, 3)])
    assert [text[block.start : block.end] for block in blocks] == ["a\nb", "c"]


def test_the_body_may_start_later():
    assert build_blocks("skip\nbody", 5, []) == (Block(BlockKind.PARAGRAPH, 5, 9),)


def test_paragraphs_end_at_blank_lines():
    lines = ["a", " ", "b", "c"]
    assert [(span.first, span.last) for span in find_paragraphs(lines, 0, 4)] == [(0, 1), (2, 4)]


def test_a_document_holds_the_text_its_blocks_and_each_link_once():
    decoded = decode(b"Title\n\nhidden\n\ntext\n")
    spans = [Span(BlockKind.HEADING, 0, 1, 1, "Title"), Span(None, 2, 3)]
    document = build_line_document(decoded, "a.rst", spans, Metadata(), ["b", "c", "b"])

    assert document.title == "Title"
    assert [document.text[one.start : one.end] for one in document.blocks] == ["Title", "text"]
    assert document.links == ("b", "c")


def test_shifting_moves_lines():
    span = Span(BlockKind.HEADING, 0, 1, 2, "x")
    assert list(shift_spans([span], 3)) == [Span(BlockKind.HEADING, 3, 4, 2, "x")]
    assert list(shift_spans([span], 0)) == [span]


def test_lines_are_taken_out_of_spans_or_stand_alone():
    spans = [Span(BlockKind.CODE, 0, 5), Span(BlockKind.LIST, 6, 9)]
    ranges = [(1, 2), (4, 7)]
    assert [one[1:3] for one in exclude_lines(spans, ranges)] == [(0, 1), (2, 4), (7, 9)]
    assert [one[1:3] for one in isolate_lines(spans, ranges)] == [
        *((0, 1), (1, 2), (2, 4), (4, 5)),
        *((6, 7), (7, 9)),
    ]


def test_lines_between_spans_make_no_block():
    spans = omit_gaps([Span(BlockKind.CODE, 1, 2)], 3)
    assert [block.kind for block in build_blocks("a\nb\nc", 0, spans)] == [BlockKind.CODE]


def test_numbers_of_lines_are_grouped():
    assert list(group_lines([0, 1, 2, 5, 7, 8])) == [(0, 3), (5, 6), (7, 9)]
    assert list(group_lines([])) == []


def test_a_vague_name_of_a_file_is_shown_with_its_folder():
    assert format_file_name("shop/index.js", {"index"}) == "shop/index.js"
    assert format_file_name("shop/cart.js", {"index"}) == "cart.js"
    assert format_file_name("index.js", {"index"}) == "index.js"


def test_a_line_that_is_too_long_ends_with_a_mark():
    assert shorten_line("twelve words", 12) == "twelve words"
    assert shorten_line("twelve words", 8) == "twelve…"
