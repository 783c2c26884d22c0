import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.markers import cut_markers, find_markers, parse_markers

KNOWN = {1, 2, 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1].", "A [1]."),
        ("A [1, 2].", "A [1][2]."),
        ("A [1][2][2].", "A [1][2]."),
        ("A [1] [1], [2].", "A [1], [2]."),
        ("A [#1] [ 2 ].", "A [1] [2]."),
        ("A [1-3].", "A [1][2][3]."),
        ("A [1–3].", "A [1][2][3]."),
        ("A [1 and 2; 3].", "A [1][2][3]."),
        ("A【1】.", "A[1]."),
        ("A［１］.", "A[1]."),
        ("A【1\u2020source】.", "A[1]."),
        ("A[^1] \\[2\\].", "A[1] [2]."),
        ("A [[1]].", "A [1]."),
        ("A [passage 1][Source 2].", "A [1][2]."),
        ("가 [출처 1].", "가 [1]."),
        ("A [1](https://a.b/c_(d)).", "A [1]."),
        ('A [1](a.md "t") b.', "A [1] b."),
        ("A (1).", "A (1)."),
        ("A `a[1]` [1].", "A `a[1]` [1]."),
        ("```\na[1]\n```\n[2]", "```\na[1]\n```\n[2]"),
        (
            "[2024-03-12] [10:30] [1.2] [x] [1990-1995]",
            "[2024-03-12] [10:30] [1.2] [x] [1990-1995]",
        ),
        ("see [the pump][1] and [a](b)", "see [the pump][1] and [a](b)"),
    ],
)
def test_markers_are_normalized_and_the_rest_is_unchanged(text, expected):
    assert parse_markers(text, KNOWN).text == expected


@pytest.mark.parametrize(
    ("text", "expected", "unknown"),
    [
        ("A [7].", "A.", [7]),
        ("A [7, 1].", "A [1].", [7]),
        ("A [1], [7], [2].", "A [1], [2].", [7]),
        ("A ([7]) b.", "A b.", [7]),
        ("[7] A.", "A.", [7]),
        ("- [7] A\n- B [0]", "- A\n- B", [7, 0]),
        ("A [2-5].", "A [2][3].", [4, 5]),
        ("A [1-99].", "A [1].", [99]),
        ("[7]```\na", "\\```\na", [7]),
        ("A [7](http://x).", "A.", [7]),
        ("A [[7]1] b [1[7]] ``[7]`", "A [ 1] b [1 ] `` `", [7, 7, 7]),
        ("A [99999999999999999999].", "A.", [999999999]),
    ],
)
def test_markers_of_unknown_passages_are_removed_and_reported(text, expected, unknown):
    marked = parse_markers(text, KNOWN)

    assert marked.text == expected
    assert [one.marker for one in marked.unknown] == unknown


def test_each_marker_has_its_span():
    marked = parse_markers("A [1, 2]. B 【3】", KNOWN)

    assert [marked.text[one.start : one.end] for one in marked.markers] == ["[1]", "[2]", "[3]"]


def test_cutting_markers_leaves_the_words():
    marked = parse_markers("The pump [1] is blue [2] .", KNOWN)

    assert cut_markers(marked.text, 0, len(marked.text), marked.markers) == "The pump is blue ."


def test_known_and_unknown_markers_are_found():
    assert [one.marker for one in find_markers("a [9], [1] `b[2]`")] == [9]
    assert [one.marker for one in find_markers("a [9] b [1]")] == [9, 1]


NOISE = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[2]",
            "[9]",
            "[1, 9]",
            " ",
            "a",
            ".",
            "`",
            "\n",
            "[",
            "]",
            "【",
            "\u202e",
        ]
    ),
    max_size=30,
).map("".join)


@given(NOISE)
def test_parsing_twice_changes_nothing(text):
    marked = parse_markers(text, KNOWN)

    for one in marked.markers:
        assert marked.text[one.start : one.end] == f"[{one.marker}]"
    assert all(one.marker in KNOWN for one in marked.markers)
    assert all(0 <= one.start <= len(marked.text) for one in marked.unknown)
    assert re.sub(r"[\[\]\d,\s\\]", "", marked.text) == re.sub(r"[\[\]\d,\s]", "", text)


@pytest.mark.parametrize(
    "unit", ["[", "[1", "[1,", "[1](", "[1](x(", "[ ", "[1] ", "[passage ", "【1\u2020", "[[1"]
)
def test_hostile_rows_are_parsed_completely(unit):
    text = unit * 20_000

    assert parse_markers(text, KNOWN).text.count("a") == text.count("a")
