from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.markers import find_code_spans, find_fenced_blocks, is_inside


def list_code(text):
    return [text[start:end] for start, end in find_code_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no code", []),
        ("run `a[1]` now", ["`a[1]`"]),
        ("``x ` y`` z", ["``x ` y``"]),
        ("a ` b", []),
        ("a ` b\n\nc ` d", []),
        ("```\na[1]\n```\nb", ["```\na[1]\n```"]),
        ("~~~ py\n```\n~~~\nb", ["~~~ py\n```\n~~~"]),
        ("  - x\n    ```sh\n    a\n    ```", ["    ```sh\n    a\n    ```"]),
        ("b\n```\nnever closed `", ["```\nnever closed `"]),
        ("a `\n```\nx\n```\n` b", ["```\nx\n```"]),
    ],
)
def test_code_is_inside_fences_and_backticks(text, expected):
    assert list_code(text) == expected


def test_a_shorter_fence_does_not_close():
    assert find_fenced_blocks("````\n```\n````\nx") == [(0, 13)]


@pytest.mark.parametrize(("place", "expected"), [(1, False), (2, True), (4, True), (5, False)])
def test_a_position_is_inside_up_to_the_end(place, expected):
    assert is_inside([(2, 5), (7, 9)], place) is expected


@given(st.text(alphabet="`~a \n>", max_size=80))
def test_spans_are_in_order_and_disjoint(text):
    spans = find_code_spans(text)

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
