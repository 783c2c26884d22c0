"""Values as SQLite holds them: lists as JSON, unsigned numbers as signed ones."""

import json
from collections.abc import Iterable

_WRAP = 1 << 64
_HIGHEST = (1 << 63) - 1


def to_json(values: Iterable[str] | Iterable[int]) -> str:
    """Return a list as JSON text."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def parse_strings(text: str) -> tuple[str, ...]:
    """Return the list of strings that JSON text holds."""
    return tuple(json.loads(text)) if text != "[]" else ()


def to_signed(number: int) -> int:
    """Return an unsigned 64-bit number, for instance an inode, as SQLite can hold it."""
    return number - _WRAP if number > _HIGHEST else number


def to_unsigned(number: int) -> int:
    """Return what `to_signed` was given."""
    return number % _WRAP


def clamp_to_signed(number: int) -> int:
    """Return a number that SQLite can hold; file systems may invent times far outside."""
    return max(-_HIGHEST, min(number, _HIGHEST))
