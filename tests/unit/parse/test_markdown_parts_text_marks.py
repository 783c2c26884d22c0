"""Tests for the marks that CommonMark does not know."""

import pytest

from kebab.parse.markdown_parts import SpanSet, find_addresses, find_anchors


def test_spans_that_touch_are_merged() -> None:
    spans = SpanSet([(4, 6), (0, 2), (1, 3), (6, 7), (9, 9)])
    assert spans.spans == [(0, 3), (4, 7)]
    assert [offset in spans for offset in (0, 2, 3, 4, 6, 7)] == [
        True,
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(see http://a.b/c?d=e).", ["http://a.b/c?d=e"]),
        ("mail a.b+c@d.ef, or not@here", ["a.b+c@d.ef"]),
        ("www.a.b and notascheme://x", ["www.a.b"]),
        ("@decorator and a @ b", []),
        ("https://u@h.com/p and mailto:x@y.zz", ["https://u@h.com/p", "mailto:x@y.zz"]),
    ],
)
def test_addresses_end_before_punctuation(text: str, found: list[str]) -> None:
    assert [text[slice(*span)] for span in SpanSet(find_addresses(text)).spans] == found


def test_anchors_in_hidden_spans_are_none() -> None:
    text = "<a id='x'></a>"
    assert find_anchors(text, SpanSet([(0, 5)])) == []
    assert [one.anchor for one in find_anchors(text, SpanSet([]))] == ["x"]


def test_signs_that_are_no_addresses_are_read_in_linear_time() -> None:
    text = "a@" * 200_000 + "x://" * 200_000
    assert list(find_addresses(text)) == []
