from kebab.core.documents import BlockKind
from kebab.parse.blocks import Span
from kebab.parse.data import Bounds, Region, build_data_document, cut_regions
from kebab.parse.encoding import decode


def list_spans(regions, lines):
    return [
        (span.label or "-", span.first, span.last, span.level or span.ends)
        for span in cut_regions(regions, lines)
    ]


def test_lines_around_regions_belong_to_the_outer_one():
    regions = [Region("a", 1, 2, 8), Region("b", 3, 4, 6)]
    assert list_spans(regions, 10) == [
        ("-", 0, 1, 1),
        ("a", 1, 2, 1),
        ("-", 2, 3, 2),
        ("b", 3, 4, 2),
        ("-", 4, 6, 3),
        ("-", 6, 8, 2),
        ("-", 8, 10, 1),
    ]


def test_a_region_on_the_line_of_another_heading_is_left_out():
    assert list_spans([Region("a", 0, 1, 3), Region("b", 0, 1, 3)], 3) == [
        ("a", 0, 1, 1),
        ("-", 1, 3, 2),
    ]


def test_lines_without_a_word_between_regions_are_no_block():
    text = "a\n}\n"
    spans = [Span(BlockKind.CODE, 0, 1), Span(BlockKind.CODE, 1, 2)]
    assert len(build_data_document(decode(text.encode()), "a", spans).blocks) == 1


def test_what_is_left_out_is_in_no_block():
    decoded = decode(b"a\nb\nc\nd\n")
    bounds = Bounds(((1, 3),), ("gone",))
    document = build_data_document(decoded, "a", [Span(BlockKind.CODE, 0, 4)], bounds)
    assert [decoded.text[block.start : block.end] for block in document.blocks] == ["a", "d"]
    assert document.warnings == ("gone",)
