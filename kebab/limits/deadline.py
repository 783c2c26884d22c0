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
from typing import NamedTuple

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.errors.signal import Signal
from kebab.platform import has_alarms, set_alarms


def describe_failure(fault: BaseException) -> str:
    """Return the cause of an error of a file whose parser raised an unexpected exception."""
    return f"the parser failed: {fault}" if str(fault) else "the parser failed"


def describe_exhaustion(max_memory_mb: int) -> str:
    """Return the cause of an error of a file that needs too much memory."""
    return f"needs more than {max_memory_mb:,} MB of memory"


def build_failure(path: str, parser: str, cause: str) -> ParseFailed:
    """Return the error of a file that ended its worker, or that is not what its name says."""
    return ParseFailed(path=path, parser=parser, cause=cause)


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
        path: str,
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


class _DeadlinePassed(BaseException):
    """The deadline passed; this is no `Exception`, so that no parser catches it."""


@contextmanager
def limit_time(seconds: float, path: str, operation: str = "parse") -> Iterator[None]:
    """Raise `TimedOut` when the block needs more processor time for this file; 0 means no limit.

    The error names the setting with the limit only for the operation `parse`.

    On the main thread alarms interrupt the block. Other threads have no alarm, so the error is
    raised after the block ends.
    """
    processor, clock = time.thread_time(), time.monotonic()
    is_late = False
    try:
        with _set_alarms(seconds, processor):
            yield
    except _DeadlinePassed:
        is_late = True
    # Processor time is slow to read, and no more than the time by the clock.
    if not (is_late or time.monotonic() - clock > seconds > 0):
        return
    elapsed = Elapsed(time.thread_time() - processor, time.monotonic() - clock)
    if is_late or elapsed.exceeds(seconds):
        setting = "ingest.deadline_s" if operation == "parse" else None
        raise elapsed.build_timeout(seconds, path, operation, setting)


@contextmanager
def _set_alarms(seconds: float, processor: float) -> Iterator[None]:
    if not seconds or not can_set_alarm():
        yield
        return
    processor_ends = processor + seconds
    clock_ends = time.monotonic() + seconds * WALL_FACTOR

    with set_alarms(
        # The alarm counts all threads of the process, and the limit only this one.
        (seconds, lambda: _require_time(processor_ends - time.thread_time())),
        (seconds * WALL_FACTOR, lambda: _require_time(clock_ends - time.monotonic())),
    ):
        yield


def can_set_alarm() -> bool:
    """Return whether a deadline can interrupt this thread."""
    return has_alarms() and threading.current_thread() is threading.main_thread()


def _require_time(left: float) -> float:
    """Return the seconds that are left, and raise when none are."""
    if left <= 0:
        raise _DeadlinePassed
    return left
