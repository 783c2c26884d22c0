"""Converts offsets of items, which are UTF-16 code units of a file, to other units.

The text is that of the file without its byte order mark, with its own line ends. An offset inside a
character, or between CR and LF, is that of the character or of the line end. The bindings for
TypeScript and Go do the same.
"""

from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""[start, end)."""


def utf16_to_code_points(text: str, span: Span) -> Span:
    """Return a span as code points: `text[start:end]` is what an item names."""
    return len(_take_units(text, span[0])), len(_take_units(text, span[1]))


def utf16_to_bytes(text: str, span: Span) -> Span:
    """Return a span as bytes of UTF-8."""
    start, end = span
    return len(_take_units(text, start).encode()), len(_take_units(text, end).encode())


def utf16_to_line_column(text: str, unit: int) -> tuple[int, int]:
    """Return the line and the column of an offset, both from 1; columns are code points."""
    lines = _split_lines(_take_units(text, unit))
    return len(lines), len(lines[-1]) + 1


def utf16_to_lines(text: str, span: Span) -> tuple[int, int]:
    """Return the first and the last line of a span, from 1 and both inclusive."""
    start, end = utf16_to_code_points(text, span)
    first = len(_split_lines(text[:start]))
    last = len(_split_lines(text[:end]))
    return first, last - 1 if end > start and text[end - 1] in "\r\n" else last


def _take_units(text: str, units: int) -> str:
    """Return the beginning of a text up to an offset."""
    wide = text.encode("utf-16-le", "replace")[: 2 * max(0, units)]
    before = wide.decode("utf-16-le", "ignore")  # half of a character at the end is ignored
    return before[:-1] if before.endswith("\r") and text[len(before) :][:1] == "\n" else before


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
