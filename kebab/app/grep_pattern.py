"""Compiles the pattern of `grep`, and finds its matches in lines."""

import re
import unicodedata
from typing import NamedTuple

from kebab.errors.catalog import InvalidInput
from kebab.wire.grep import GrepRequest

_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_SHARE_BEFORE = 3
"""A cut line begins a third of its length before the first match."""


class LinePart(NamedTuple):
    """A part of a line with its matches; `column` is that of the first match, from 1."""

    text: str
    column: int
    highlights: list[tuple[int, int]]
    is_cut: bool


class LinePattern:
    """A compiled pattern that is compared with one line at a time.

    Raises:
        InvalidInput: The pattern is empty or no regular expression.
    """

    def __init__(self, request: GrepRequest) -> None:
        source = unicodedata.normalize("NFC", request.pattern)
        if not source:
            raise InvalidInput(field="$.pattern", cause="it is empty")
        is_plain = request.fixed or not _SPECIAL.intersection(source)
        is_exact = is_plain and source.isascii() and not request.ignore_case
        self._bytes = source.encode() if is_exact and "\n" not in source else b""
        expression = re.escape(source) if request.fixed else source
        if request.word:
            expression = rf"(?<!\w)(?:{expression})(?!\w)"
        self._regex = _compile(expression, source, ignore_case=request.ignore_case)

    def can_match(self, data: bytes) -> bool:
        """Return whether a file with these bytes can have a match; a cheap test before decoding."""
        return self._bytes in data or b"\0" in data

    def matches(self, line: str) -> bool:
        """Return whether a line matches."""
        return self._regex.search(line) is not None

    def cut_line(self, line: str, max_columns: int | None) -> LinePart:
        """Return a matching line with its matches, cut around the first when it is too long."""
        spans = [match.span() for match in self._regex.finditer(line)]
        column = spans[0][0] + 1
        start, end = 0, len(line)
        if max_columns is not None and len(line) > max_columns:
            start = min(max(0, column - 1 - max_columns // _SHARE_BEFORE), len(line) - max_columns)
            end = start + max_columns
        inside = [
            (max(first, start) - start, min(last, end) - start)
            for first, last in spans
            if first < end and last > start and last > first
        ]
        return LinePart(line[start:end], column, inside, (start, end) != (0, len(line)))


def _compile(expression: str, source: str, *, ignore_case: bool) -> re.Pattern[str]:
    try:
        re.compile(source if expression != re.escape(source) else expression)
        return re.compile(expression, re.IGNORECASE if ignore_case else 0)
    except re.error as fault:
        place = "" if fault.pos is None else f" at position {fault.pos}"
        cause = f"no regular expression, {fault.msg}{place}; `--fixed` takes it as plain text"
        raise InvalidInput(field="$.pattern", cause=cause) from fault
    except (OverflowError, RecursionError, MemoryError) as fault:
        raise InvalidInput(field="$.pattern", cause="the pattern is too large") from fault
