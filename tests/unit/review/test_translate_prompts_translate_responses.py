"""What the model writes about segments is read, and what makes no sense is not."""

import pytest

from kebab.review.translate_prompts import (
    SegmentFinding,
    SegmentRating,
    SegmentText,
    choose_severity,
    read_finding,
    read_rating,
    read_text,
)

_NUMBERS = [1, 2, 3]


def test_a_text_is_read_with_its_number() -> None:
    assert read_text({"id": 2, "text": "zwei"}, _NUMBERS) == SegmentText(2, "zwei")
    assert read_text({"id": "3", "text": "drei"}, _NUMBERS) == SegmentText(3, "drei")


@pytest.mark.parametrize(
    "entry", [{}, {"id": 9, "text": "x"}, {"id": 1, "text": " "}, {"id": 1, "text": 5}, {"id": [1]}]
)
def test_what_is_no_text_is_not_read(entry: dict[str, object]) -> None:
    assert read_text(entry, _NUMBERS) is None


def test_a_finding_is_read() -> None:
    entry = {"id": 2, "kind": "omission", "severity": "error", "side": "both", "reason": " a word "}
    assert read_finding(entry, _NUMBERS) == SegmentFinding(2, "omission", "error", "both", "a word")


def test_unknown_words_of_a_finding_are_replaced() -> None:
    entry = {"id": 2, "kind": "x", "severity": "fatal", "side": 3, "reason": "r"}
    assert read_finding(entry, _NUMBERS) == SegmentFinding(2, "accuracy", "suggestion", "tgt", "r")


def test_a_finding_without_a_reason_is_not_read() -> None:
    assert read_finding({"id": 2, "reason": ""}, _NUMBERS) is None
    assert read_finding({"id": 4, "reason": "r"}, _NUMBERS) is None


@pytest.mark.parametrize(("points", "score"), [(0, 0.0), (70, 0.7), (250, 1.0), (-3, 0.0)])
def test_points_become_a_score(points: int, score: float) -> None:
    rating = read_rating({"id": 1, "points": points}, _NUMBERS)
    assert rating == SegmentRating(1, score, "")


def test_a_segment_with_all_points_has_no_fault() -> None:
    assert read_rating({"id": 1, "points": 100, "reason": "none"}, _NUMBERS) == (1, 1.0, "")
    assert read_rating({"id": 1, "points": 99, "reason": "a tone"}, _NUMBERS) == (1, 0.99, "a tone")


@pytest.mark.parametrize("points", [None, "90", float("nan")])
def test_what_is_no_rating_is_not_read(points: object) -> None:
    assert read_rating({"id": 1, "points": points}, _NUMBERS) is None


def test_the_severity_of_a_fault_depends_on_the_rating() -> None:
    assert [choose_severity(score) for score in (0.9, 0.6, 0.2)] == [
        "suggestion",
        "warning",
        "error",
    ]
