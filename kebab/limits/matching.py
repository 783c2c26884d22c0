"""Compares the lines of files with a regular expression, each file within a time.

A backtracking expression may take for ever, and nothing but a signal or another process ends it.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

from kebab.errors.catalog import InvalidInput
from kebab.limits.deadline import FileDeadline, can_set_alarm
from kebab.wire.fetch import GrepRequest

if TYPE_CHECKING:
    from kebab.limits.worker import WorkerProcess

DEADLINE_S = 5.0
"""The time limit for one file; a pattern that needs longer backtracks without end."""

_SPECIAL = frozenset(".^$*+?{}[]\\|()")
_UNSAFE, _UNSAFE_ANY_CASE = frozenset(";K`"), frozenset(";`iks")
"""The letters of ASCII that NFC makes of others, or that equal others when case is ignored."""
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


MatchTask: TypeAlias = tuple[str, int]
"""The text of a file, and how many of its matching lines to return."""


class FileMatches(NamedTuple):
    """The matching lines of a file by their indexes, and whether there are more."""

    parts: dict[int, LinePart]
    has_more: bool


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
        self.repeats = not request.fixed and not _REPEATS.isdisjoint(source)
        expression = re.escape(source) if request.fixed else source
        if request.word:
            expression = rf"(?<!\w)(?:{expression})(?!\w)"
        flags = re.IGNORECASE if request.ignore_case else 0
        self._max_columns = request.max_columns
        self._regex = _compile(expression, source, flags)
        self._ignores_case = bool(self._regex.flags & re.IGNORECASE)
        is_plain = request.fixed or not _SPECIAL.intersection(source)
        self._fits_lines = is_plain and "\n" not in source
        # Letters outside of ASCII may have other bytes in the codec of a file.
        literal = source.lower() if self._ignores_case else source
        unsafe = _UNSAFE_ANY_CASE if self._ignores_case else _UNSAFE
        is_known = is_plain and literal.isascii() and unsafe.isdisjoint(literal)
        self._literal = literal.encode() if is_known else b""

    def can_match(self, data: bytes) -> bool:
        """Return whether a file with these bytes can have a match; a cheap test before decoding."""
        if not self._literal or b"\0" in data or b"\x1b" in data:
            return True  # a letter of ASCII may have other bytes than its own
        if b"~" in data and b"~{" in data:  # looking for one byte is much faster
            return True
        if not data.isascii() and b" " not in data:
            return True  # it may be EBCDIC
        return self._literal in (data.lower() if self._ignores_case else data)

    def find_lines(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the lines that match, with their indexes."""
        end = len(text) - text.endswith("\n")
        if not self._fits_lines:
            lines = text[:end].split("\n") if text else ()
            yield from ((n, line) for n, line in enumerate(lines) if self._regex.search(line))
            return
        first = index = next_line = 0
        while next_line < end and (match := self._regex.search(text, next_line, end)):
            start = text.rfind("\n", next_line, match.start()) + 1 or next_line
            index += text.count("\n", first, start)
            first, line_end = start, text.find("\n", match.start(), end)
            next_line = (end if line_end < 0 else line_end) + 1
            yield index, text[first : next_line - 1]

    def match(self, task: MatchTask) -> FileMatches:
        """Return the first lines that match."""
        text, most = task
        matching = self.find_lines(text)
        parts = {index: self._cut_line(line) for index, line in islice(matching, most)}
        return FileMatches(parts, next(matching, None) is not None)

    def _cut_line(self, line: str) -> LinePart:
        """Return a matching line with its matches, cut around the first when it is too long."""
        max_columns = self._max_columns
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


def _compile(expression: str, source: str, flags: int) -> re.Pattern[str]:
    try:
        re.compile(source if expression != re.escape(source) else expression)
        return re.compile(expression, flags)
    except re.error as fault:
        place = "" if fault.pos is None else f" at position {fault.pos}"
        cause = f"no regular expression, {fault.msg}{place}; with `fixed` it is plain text"
        raise InvalidInput(field="$.pattern", cause=cause) from fault
    except (OverflowError, RecursionError, MemoryError) as fault:
        raise InvalidInput(field="$.pattern", cause="the pattern is too large") from fault


class Matcher:
    """Compares files with one pattern under a deadline; use it as a context manager.

    The engine of regular expressions keeps the interpreter to itself while it backtracks. On the
    main thread an alarm stops it. On any other thread, such as those of a server, a pattern with
    a repetition runs in a worker process.
    """

    def __init__(self, pattern: LinePattern) -> None:
        self._pattern = pattern
        self._needs_worker = pattern.repeats and not can_set_alarm()
        self._worker: WorkerProcess | None = None
        self._deadline = FileDeadline(DEADLINE_S, "grep")
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        self._undo.enter_context(self._deadline.interrupt())
        return self

    def __exit__(self, *details: object) -> None:
        self._undo.__exit__(*details)  # type: ignore[arg-type]

    def match(self, task: MatchTask, path: str) -> FileMatches:
        """Return the matching lines of the file with this path.

        Raises:
            TimedOut: The pattern takes too long in this file.
            InvalidInput: The pattern needs too much memory.
            OSError: The system has no room for a process.
        """
        if not self._needs_worker:
            self._deadline.begin(path)
            found = self._pattern.match(task)
            self._deadline.end()
            return found
        if self._worker is None:
            from kebab.limits.worker import DEFAULT_MEMORY_MB, START_S, WorkerProcess

            process = WorkerProcess(self._pattern.match, DEFAULT_MEMORY_MB)
            self._worker = self._undo.enter_context(process)
            if not self._worker.poll(START_S) or self._worker.receive() is None:
                raise OSError(self._worker.explain_end())
        self._worker.send(task)
        if late := self._worker.wait_for_reply(DEADLINE_S):
            raise late.build_timeout(DEADLINE_S, path, "grep", None)
        reply = self._worker.receive()
        if reply is None or reply.fault:
            cause = self._worker.explain_end() if reply is None else reply.fault
            raise InvalidInput(field="$.pattern", cause=f"it cannot be searched for: {cause}")
        matches: FileMatches = reply.result
        return matches
