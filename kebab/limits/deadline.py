"""Limits the processor time of a block of code, and describes a parser that failed.

Alarms end the block where the thread can have them. A limit counts processor time, because a busy
machine lets a process wait for others. Work that waits or sleeps ends too, after `WALL_FACTOR`
times the limit by the clock.

A worker is a process that works on files and can be killed (`kebab.limits.worker`). A `Signal` is
an error that kebab raises on purpose, not a signal of the system.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.errors.signal import Signal
from kebab.platform import set_alarms


def describe_failure(fault: BaseException) -> str:
    """Return the cause of an error of a file whose parser raised an unexpected exception."""
    return f"the parser failed: {fault}" if str(fault) else "the parser failed"


def describe_exhaustion(max_memory_mb: int) -> str:
    """Return the cause of an error of a file that needs too much memory."""
    return f"needs more than {max_memory_mb:,} MB of memory"


def build_failure(path: str, parser: str, cause: str) -> ParseFailed:
    """Return the error of a file that cannot be parsed."""
    return ParseFailed(path=path, parser=parser, cause=cause)


def build_refusal(cause: str, setting: str | None = None) -> ParseFailed:
    """Return the error of a parser; its guard adds the path and the parser (`kebab.parse`)."""
    return ParseFailed(path="", parser="", cause=cause, setting=setting)


def raise_memory_error(error: Signal) -> None:
    """Raise the `MemoryError` that an error of a parser comes from, if it comes from one."""
    if isinstance(error.__cause__, MemoryError):
        raise error.__cause__


WALL_FACTOR = 20
"""How many times its limit of processor time work may take by the clock."""


class Elapsed(NamedTuple):
    """The time that work has taken, in seconds: of the processor, and by the clock."""

    processor: float
    clock: float

    def exceeds(self, seconds: float, grace: float = 0.0) -> bool:
        """Return whether this is more than a limit of processor time and some seconds of grace."""
        return self.processor > seconds + grace or self.clock > seconds * WALL_FACTOR + grace

    def build_timeout(
        self,
        seconds: float,
        path: str | None,
        operation: str = "parse",
        setting: str | None = "ingest.deadline_s",
    ) -> TimedOut:
        """Return the error of a file; `elapsed_ms` is the time that exceeds its limit."""
        elapsed = self.processor if self.processor > seconds else self.clock
        return TimedOut(
            operation=operation,
            elapsed_ms=round(elapsed * 1000),
            deadline_ms=round(seconds * 1000),
            setting=setting,
            path=path,
        )


class DeadlinePassed(BaseException):
    """The deadline of a file passed; this is no `Exception`, so that no parser catches it.

    Who has a part of the file catches it and calls `excuse`. The part then counts as in time.
    """

    def __init__(self, deadline: "FileDeadline") -> None:
        self._deadline = deadline

    def excuse(self) -> None:
        """Let the file end without an error."""
        self._deadline.excuse()


class FileDeadline:
    """Limits the processor time for each of several files, between `begin` and `end`.

    The error names the setting with the limit only for the operation `parse`.
    """

    def __init__(self, seconds: float, operation: str = "parse") -> None:
        self._seconds = seconds
        self._operation = operation
        self._path: str | None = None
        self._processor = self._clock = 0.0

    def begin(self, path: str) -> None:
        """Start the time for a file."""
        self._processor, self._clock = time.thread_time(), time.monotonic()
        self._path = path

    def excuse(self) -> None:
        """Let the present file take as long as it did."""
        self._path = None

    def end(self, *, is_late: bool = False) -> None:
        """Stop the time for the file.

        Raises:
            TimedOut: The file took too long.
        """
        path, self._path = self._path, None
        clock = time.monotonic() - self._clock
        # Processor time is slow to read, and no more than the time by the clock.
        if path is None or not (is_late or 0 < self._seconds < clock):
            return
        elapsed = Elapsed(time.thread_time() - self._processor, clock)
        if is_late or elapsed.exceeds(self._seconds):
            setting = "ingest.deadline_s" if self._operation == "parse" else None
            raise elapsed.build_timeout(self._seconds, path, self._operation, setting)

    @contextmanager
    def interrupt(self) -> Iterator[Self]:
        """Interrupt the block when a file takes too long, where this thread can have alarms.

        Raises:
            TimedOut: A file took too long.
        """
        is_late = False
        try:
            if not self._seconds or not can_set_alarm():
                yield self
            else:
                clock_s = self._seconds * WALL_FACTOR
                processor = (self._seconds, self._check_processor_time)
                with set_alarms(processor, (clock_s, self._check_clock)):
                    yield self
        except DeadlinePassed:
            is_late = True
        self.end(is_late=is_late)

    def _check_processor_time(self) -> float:
        # The alarm counts all threads of the process, and the limit only this one.
        return self._require_time(self._seconds, time.thread_time() - self._processor)

    def _check_clock(self) -> float:
        return self._require_time(self._seconds * WALL_FACTOR, time.monotonic() - self._clock)

    def _require_time(self, limit: float, elapsed: float) -> float:
        """Return the seconds that are left for the file, and raise when none are."""
        left = limit if self._path is None else limit - elapsed
        if left <= 0:
            raise DeadlinePassed(self)
        return left


@contextmanager
def limit_time(seconds: float, path: str) -> Iterator[None]:
    """Raise `TimedOut` when the block needs more processor time for this file; 0 means no limit.

    On the main thread alarms interrupt the block. Other threads have no alarm, so the error is
    raised after the block ends.
    """
    with FileDeadline(seconds).interrupt() as deadline:
        deadline.begin(path)
        yield


def can_set_alarm() -> bool:
    """Return whether a deadline can interrupt this thread."""
    return threading.current_thread() is threading.main_thread()
