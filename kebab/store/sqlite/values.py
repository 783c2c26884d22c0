"""Values as SQLite holds them: lists as JSON, unsigned numbers as signed ones."""

import json
from collections.abc import Iterable

_WRAP = 1 << 64
_HIGHEST = (1 << 63) - 1


def as_json(values: Iterable[str] | Iterable[int]) -> str:
    """Return a list as JSON text."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def strings(text: str) -> tuple[str, ...]:
    """Return the list of strings that JSON text holds."""
    return tuple(json.loads(text)) if text != "[]" else ()


def signed(number: int) -> int:
    """Return an unsigned 64-bit number, for instance an inode, as SQLite can hold it."""
    return number - _WRAP if number > _HIGHEST else number


def unsigned(number: int) -> int:
    """Return what `signed` was given."""
    return number % _WRAP


def clamped(number: int) -> int:
    """Return a number that SQLite can hold; file systems may invent times far outside."""
    return max(-_HIGHEST, min(number, _HIGHEST))
