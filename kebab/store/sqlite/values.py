"""Converts values for SQLite: lists to JSON, unsigned integers to signed ones."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from kebab.core.chunks import Place

_WRAP = 1 << 64
_HIGHEST = (1 << 63) - 1


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(values: Iterable[str] | Iterable[int] | Place) -> str:
    """Return a list as JSON text."""
    return _encode(list(values))


@lru_cache(maxsize=4096)
def parse_strings(text: str) -> tuple[str, ...]:
    """Return the strings of a JSON list; the passages of a section have the same headings."""
    return tuple(json.loads(text)) if text != "[]" else ()


def parse_place(text: str) -> Place | None:
    """Return the place that `to_json` wrote; an empty text is none."""
    return Place(*json.loads(text)) if text else None


def to_nanoseconds(date: str | None) -> int | None:
    """Return an ISO 8601 date or time in nanoseconds; a date alone begins at local midnight.

    A text that is no date, or one beyond the range of SQLite, gives None.
    """
    if date is None:
        return None
    try:
        seconds = datetime.fromisoformat(date).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    moment = round(seconds * 1_000_000_000)
    return moment if abs(moment) <= _HIGHEST else None


def to_signed(number: int) -> int:
    """Return an unsigned 64-bit integer, such as an inode, as a signed one."""
    return number - _WRAP if number > _HIGHEST else number


def to_unsigned(number: int) -> int:
    """Return the argument of `to_signed` from its result."""
    return number % _WRAP


def clamp_to_signed(number: int) -> int:
    """Return the nearest integer that SQLite can store; file systems may report odd times."""
    return max(-_HIGHEST, min(number, _HIGHEST))
