import pytest

from kebab.rag.checking.markers import rewrite_round_markers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It runs nightly (1).", "It runs nightly [1]."),
        ("It runs nightly (1, 2)", "It runs nightly [1][2]"),
        ("It runs (see passage 2) nightly.", "It runs [2] nightly."),
        ("It runs (passages 1 and 2).", "It runs [1][2]."),
        ("백업합니다(1).", "백업합니다[1]."),
        ("백업합니다(출처: 1).", "백업합니다[1]."),
    ],
)
def test_citations_in_round_brackets_are_rewritten(text, expected):
    assert rewrite_round_markers(text, {1, 2}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "(1) First. (2) Second.",
        "Version (9).",
        "It runs nightly [1] in rooms (2).",
        "Call f(1).",
        "An area of 3 km\u00b2.",
        "`kill (1)`",
        "It takes (1) hour.",
        "Use (passage 9).",
    ],
)
def test_other_numbers_in_round_brackets_stay(text):
    assert rewrite_round_markers(text, {1, 2}) == text
