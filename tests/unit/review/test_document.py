"""A document under review has exact positions in its file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.review import FrontMatterUse, Markup
from kebab.review.document import hide_spans
from tests.fakes.review import make_document


def slice_utf16(raw: str, start: int, end: int) -> str:
    return raw.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@given(st.text(st.sampled_from("a\U0001f600\r\n\u1112\u1161\u0301\u05d0 .")), st.data())
def test_a_span_in_utf16_names_the_same_text_of_the_file(raw: str, data: st.DataObject) -> None:
    document = make_document(raw)
    start = data.draw(st.integers(0, len(document.text)))
    end = data.draw(st.integers(start, len(document.text)))
    span = document.to_utf16(start, end)
    named = slice_utf16(raw, *span)
    assert named.replace("\r\n", "\n").replace("\r", "\n") == document.text[start:end]
    assert document.from_utf16(*span) == (start, end)


@given(st.text(st.sampled_from("a\U0001f600\r\n. "), min_size=1), st.data())
def test_an_offset_inside_a_character_is_that_of_the_character(
    raw: str, data: st.DataObject
) -> None:
    document = make_document(raw)
    units = len(raw.encode("utf-16-le")) // 2
    unit = data.draw(st.integers(0, units))
    offset, _ = document.from_utf16(unit, unit)
    low, _ = document.to_utf16(offset, offset)
    assert low <= unit
    if offset < len(document.text):
        assert document.to_utf16(offset + 1, offset + 1)[0] > unit


def test_lines_and_columns_count_from_one() -> None:
    document = make_document("ab\r\n\U0001f600c\n")
    assert [document.find_line(offset) for offset in range(6)] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
        (2, 3),
    ]


@pytest.mark.parametrize(
    ("span", "expected"),
    [((0, 3), (0, 0)), ((0, 8), (0, 1)), ((4, 5), (1, 1)), ((8, 9), (1, 1)), ((30, 30), (1, 1))],
)
def test_a_span_lies_in_sentences(span: tuple[int, int], expected: tuple[int, int]) -> None:
    assert make_document("One. Two.\n").find_sentence_range(*span) == expected


def test_a_text_without_sentences_has_the_range_zero() -> None:
    assert make_document("---\n").find_sentence_range(0, 3) == (0, 0)


def test_prose_has_blanks_in_place_of_front_matter_and_code() -> None:
    markup = Markup(front_matter=FrontMatterUse(0, 9, ()), code=((15, 18),))
    document = make_document("---\na\n---\nText `x` end", markup)
    assert document.prose == "   \n \n   \nText     end"


def test_overlapping_spans_are_hidden_once() -> None:
    assert hide_spans("abcdef", [(3, 5), (1, 4)]) == "a    f"
