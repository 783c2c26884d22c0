"""Offsets in UTF-16 become code points, bytes, lines and columns of the same text."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.text.offsets import (
    MOST_CHARS,
    find_quotation,
    utf16_to_bytes,
    utf16_to_code_points,
    utf16_to_line_column,
    utf16_to_lines,
)

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "offsets.json").read_text(encoding="utf-8")
)
TEXTS = st.text(st.sampled_from("a \r\n\u00e9\u1112\u0301\u200d\u05d0\U0001f600"), max_size=20)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_offset_becomes_what_the_case_says(case: dict[str, Any]) -> None:
    text, (start, end) = case["text"], case["range"]
    assert utf16_to_code_points(text, (start, end)) == tuple(case["code_points"])
    assert utf16_to_bytes(text, (start, end)) == tuple(case["bytes"])
    assert utf16_to_line_column(text, start) == tuple(case["start"])
    assert utf16_to_line_column(text, end) == tuple(case["end"])


@given(TEXTS, st.data())
def test_every_form_names_the_same_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for position in (start, end):
        if text[position - 1 : position + 1] == "\r\n" and position:
            return
    span = len(text[:start].encode("utf-16-le")) // 2, len(text[:end].encode("utf-16-le")) // 2
    assert utf16_to_code_points(text, span) == (start, end)
    first, last = utf16_to_bytes(text, span)
    assert text.encode()[first:last].decode() == text[start:end]


def test_the_lines_of_a_span_do_not_count_the_line_behind_its_end() -> None:
    assert utf16_to_lines("a\r\nb\r\nc", (0, 3)) == (1, 1)
    assert utf16_to_lines("a\r\nb\r\nc", (0, 4)) == (1, 2)
    assert utf16_to_lines("a\r\nb\r\nc", (3, 3)) == (2, 2)
    assert utf16_to_lines("", (0, 0)) == (1, 1)


TEXT = "He said “teh  cat’s\nbed” is – This. Teh cat. 사과를 먹었다. Cafe\u0301 **bold** word"


def find(quotation, text=TEXT, *limits):
    return [text[start:end] for start, end in find_quotation(text, quotation, *limits)]


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("teh", ["teh"]),
        ("TEH", ["teh", "Teh"]),
        ("teh cat's bed", ["teh  cat’s\nbed"]),
        ('"teh cat\'s bed"', ["“teh  cat’s\nbed”"]),
        ("is - this", ["is – This"]),
        ("caf\u00e9", ["Cafe\u0301"]),
        (unicodedata.normalize("NFD", "먹었다"), ["먹었다"]),
        ("bold word", ["bold** word"]),
        ("'Teh cat.'", ["Teh cat."]),
        ("사과", ["사과"]),
        ("nowhere", []),
        ("", []),
        ("...", []),
        ("teh" * MOST_CHARS, []),
    ],
)
def test_a_quotation_is_found_also_when_it_is_not_exact(quotation, found):
    assert find(quotation) == found


def test_whole_words_come_before_parts_of_words():
    assert find("is", "This is") == ["is"]
    assert find_quotation("This is", "is") == [(5, 7)]
    assert find("Is", "This is") == ["is"]
    assert find("hi", "This is") == ["hi"]


def test_a_line_of_a_block_quote_is_white_space():
    assert find("one two", "> one\n> two") == ["one\n> two"]


def test_only_a_part_of_the_text_is_searched():
    assert find_quotation("cat cat cat", "cat", 1, 9) == [(4, 7)]


@given(st.text(min_size=1), st.data())
def test_every_part_of_a_text_with_a_word_is_found_where_it_is(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + MOST_CHARS)))
    quotation = text[start:end].strip()
    places = find_quotation(text, text[start:end])

    assert bool(places) == any(map(str.isalnum, quotation))
    assert all(0 <= first < last <= len(text) for first, last in places)
    assert not places or quotation in {text[first:last] for first, last in places}
