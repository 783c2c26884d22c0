"""Reads what the language model writes about the segments of a translation."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from kebab.review.light_format import SEVERITIES
from kebab.review.translate_prompts import KINDS, MOST_POINTS, SIDES
from kebab.wire.review import SeverityName, SideName

_Word = TypeVar("_Word", bound=str)
_GOOD, _FAIR = 0.8, 0.5
"""A segment with these points or more has a fault that is a suggestion, or a warning."""


class SegmentText(NamedTuple):
    """The text that the model writes for the segment with this number."""

    number: int
    text: str


class SegmentFinding(NamedTuple):
    """What the model finds in the segment with this number."""

    number: int
    kind: str
    severity: SeverityName
    side: SideName
    reason: str


class SegmentRating(NamedTuple):
    """The rating of the segment with this number, from 0 to 1, and its worst fault if any."""

    number: int
    score: float
    reason: str


def read_text(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentText | None:
    """Return the text of an object; None when it has none, or another number."""
    number, text = _read_number(entry, numbers), entry.get("text")
    if number is None or not isinstance(text, str) or not text.strip():
        return None
    return SegmentText(number, text)


def read_finding(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentFinding | None:
    """Return the finding of an object; None when it has no reason, or another number."""
    number, reason = _read_number(entry, numbers), _read_reason(entry)
    if number is None or not reason:
        return None
    kind = _choose(KINDS, entry.get("kind"), "accuracy")
    severity = _choose(SEVERITIES, entry.get("severity"), "suggestion")
    side = _choose(SIDES, entry.get("side"), "tgt")
    return SegmentFinding(number, kind, severity, side, reason)


def read_rating(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentRating | None:
    """Return the rating of an object; None when it has no points, or another number."""
    number, points = _read_number(entry, numbers), entry.get("points")
    if number is None or not isinstance(points, int | float) or math.isnan(points):
        return None
    score = min(1.0, max(0.0, points / MOST_POINTS))
    return SegmentRating(number, score, _read_reason(entry) if score < 1 else "")


def choose_severity(score: float) -> SeverityName:
    """Return the severity of the worst fault of a segment with this rating."""
    return "suggestion" if score >= _GOOD else "warning" if score >= _FAIR else "error"


def _read_number(entry: Mapping[str, Any], numbers: Sequence[int]) -> int | None:
    value = entry.get("id")
    return next((number for number in numbers if value in (number, str(number))), None)


def _choose(allowed: Sequence[_Word], value: object, default: _Word) -> _Word:
    return next((one for one in allowed if one == value), default)


def _read_reason(entry: Mapping[str, Any]) -> str:
    reason = entry.get("reason")
    return reason.strip() if isinstance(reason, str) else ""
