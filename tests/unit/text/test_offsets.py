"""Offsets in UTF-16 become code points, bytes, lines and columns of the same text."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.text.offsets import (
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
