from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.claims import extract_claims
from kebab.rag.checking.markers import parse_markers

KNOWN = set(range(1, 10))


def list_claims(text):
    return [(one.text, one.markers) for one in extract_claims(parse_markers(text, KNOWN))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("A pump [1].", [("A pump.", (1,))]),
        ("A pump. [1] A fan. [2][3]", [("A pump.", (1,)), ("A fan.", (2, 3))]),
        ("A pump.   [1] A fan.", [("A pump.", (1,)), ("A fan.", ())]),
        ("A pump.\n[1]", [("A pump.", (1,))]),
        ("A pump.\n\n[1] [2]", [("A pump.", (1, 2))]),
        ("A pump. A fan [1].", [("A pump.", ()), ("A fan.", (1,))]),
        (
            "A pump runs [1] and a fan stands [2].",
            [("A pump runs", (1,)), ("and a fan stands.", (2,))],
        ),
        (
            "A pump runs [1] and some fan stands still.",
            [("A pump runs", (1,)), ("and some fan stands still.", ())],
        ),
        ("A pump [1] is installed.", [("A pump is installed.", (1,))]),
        ("In [1], the pump runs.", [("In, the pump runs.", (1,))]),
        ("In [1] and [2] it is the pump [3].", [("In and it is the pump.", (1, 2, 3))]),
        ("[1] The pump runs.", [("The pump runs.", (1,))]),
        ("- A pump [1]\n- A fan\n", [("A pump", (1,)), ("A fan", ())]),
        ("펌프는 설치되었다[1]. 팬이다[2].", [("펌프는 설치되었다.", (1,)), ("팬이다.", (2,))]),
        ("펌프는 설치[1]되었습니다.", [("펌프는 설치되었습니다.", (1,))]),
        (
            "東京は首都です[1]。京都は古都です。[2]",
            [("東京は首都です。", (1,)), ("京都は古都です。", (2,))],
        ),
        ("The year was 2019 [1].", [("The year was 2019.", (1,))]),
    ],
)
def test_a_marker_covers_the_text_before_it_in_its_sentence(text, expected):
    assert list_claims(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "# The pump [1]",
        "Is it a pump? [1]",
        "Is it a pump [1]?",
        "These pumps run [1]:",
        "These pumps run: [1]",
        "**These pumps:**",
        "**The pump**",
        "```\nthe pump [1]\n```",
        "```\nthe pump never closed [1]",
        "It is so [1].",
        "...",
        "ポンプはどこ？",
    ],
)
def test_headings_questions_and_lead_ins_are_no_claims(text):
    assert list_claims(text) == []


def test_a_sentence_longer_than_any_quote_is_one_claim():
    text = "The pump runs " + "and the old fan turns " * 60 + "[1]."

    (claim,) = extract_claims(parse_markers(text, KNOWN))
    assert (claim.start, claim.end, claim.markers) == (0, len(text), (1,))


PIECES = st.lists(
    st.sampled_from(
        [
            "The pump",
            " runs",
            "[1]",
            " [2]",
            ". ",
            "\n",
            "\n\n",
            "- ",
            "# ",
            "?",
            ":",
            "`",
            "[9]",
            "漢字",
            "。",
        ]
    ),
    max_size=30,
).map("".join)


@given(PIECES)
def test_claims_are_disjoint_in_order_and_contain_their_markers(text):
    marked = parse_markers(text, {1, 2})
    found = extract_claims(marked)

    assert all(0 <= one.start < one.end <= len(marked.text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    for one in found:
        part = marked.text[one.start : one.end]
        assert part == part.strip()
        assert all(f"[{marker}]" in part for marker in one.markers)
        assert one.span == (one.start, one.end)


@pytest.mark.parametrize("unit", ["a [1] ", "The pump [1], ", "x. ", "[1]", "| a [1] ", "word "])
def test_hostile_rows_are_split_completely(unit):
    assert all(one.text for one in extract_claims(parse_markers(unit * 3_000, KNOWN)))
