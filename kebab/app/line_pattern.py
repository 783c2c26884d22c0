"""Compares lines with the pattern of a user, which may need far too long, under a deadline."""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from typing import NamedTuple, Self

from kebab.errors.catalog import InvalidInput
from kebab.limits.deadline import can_set_alarm, limit_time
from kebab.limits.worker import DEFAULT_MEMORY_MB, START_S, WorkerProcess
from kebab.wire.fetch import GrepRequest

DEADLINE_S = 5.0
"""The time limit for one file; a pattern that needs longer backtracks without end."""

_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_REPEATS = frozenset("*+{")
"""Signs of a repetition; a pattern without one takes time in proportion to the text."""
_SHARE_BEFORE = 3
"""A cut line begins a third of its length before the first match."""


class LinePart(NamedTuple):
    """A part of a line with its matches; `column` is that of the first match, from 1."""

    text: str
    column: int
    highlights: list[tuple[int, int]]
    is_cut: bool


class LinePattern:
    """A compiled pattern that is compared with one line at a time."""

    def __init__(self, request: GrepRequest) -> None:
        """Compile the pattern of a request.

        Raises:
            InvalidInput: The pattern is empty or no regular expression.
        """
        source = unicodedata.normalize("NFC", request.pattern)
        if not source:
            raise InvalidInput(field="$.pattern", cause="it is empty")
        is_plain = request.fixed or not _SPECIAL.intersection(source)
        is_exact = is_plain and source.isascii() and not request.ignore_case
        self.repeats = not request.fixed and not _REPEATS.isdisjoint(source)
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


class MatchTask(NamedTuple):
    """The lines of a file to compare with a pattern; the matches of one line are a `LinePart`."""

    pattern: LinePattern
    lines: Sequence[str]
    most: int
    """How many matching lines to return."""
    max_columns: int | None
    """The longest line to return whole."""


class FileMatches(NamedTuple):
    """The matching lines of a file by their indexes, and whether there are more."""

    parts: dict[int, LinePart]
    has_more: bool


def match_lines(task: MatchTask) -> FileMatches:
    """Return the first lines that match."""
    pattern, lines = task.pattern, task.lines
    matching = (index for index, line in enumerate(lines) if pattern.matches(line))
    parts = {
        index: pattern.cut_line(lines[index], task.max_columns)
        for index in islice(matching, task.most)
    }
    return FileMatches(parts, next(matching, None) is not None)


class Matcher:
    """Compares files with one pattern under a deadline; use it as a context manager.

    The engine of regular expressions keeps the interpreter to itself while it backtracks. On the
    main thread an alarm stops it. On any other thread, such as those of a server, a pattern with
    a repetition runs in a worker process.
    """

    def __init__(self, pattern: LinePattern) -> None:
        self._needs_worker = pattern.repeats and not can_set_alarm()
        self._worker: WorkerProcess | None = None
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def match(self, task: MatchTask, path: str) -> FileMatches:
        """Return the matching lines of the file with this path.

        Raises:
            TimedOut: The pattern takes too long in this file.
            InvalidInput: The pattern needs too much memory.
            OSError: The system has no room for a process.
        """
        if not self._needs_worker or not task.lines:
            with limit_time(DEADLINE_S, path, "grep"):
                return match_lines(task)
        if self._worker is None:
            self._worker = self._undo.enter_context(WorkerProcess(match_lines, DEFAULT_MEMORY_MB))
            if not self._worker.poll(START_S) or self._worker.receive() is None:
                raise OSError(self._worker.explain_end())
        self._worker.send(task)
        if late := self._worker.wait_for_reply(DEADLINE_S):
            raise late.build_timeout(DEADLINE_S, path, "grep", None)
        reply = self._worker.receive()
        if reply is None or reply.fault:
            cause = self._worker.explain_end() if reply is None else reply.fault
            raise InvalidInput(field="$.pattern", cause=f"it cannot be searched for: {cause}")
        found: FileMatches = reply.result
        return found
