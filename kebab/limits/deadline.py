"""Limits the processor time of a block of code, and describes a parser that failed.

Alarms end the block where the thread can have them. A limit counts processor time, because a busy
machine lets a process wait for others. Work that waits or sleeps ends too, after `WALL_FACTOR`
times the limit by the clock.

A worker is a process that works on files and can be killed (`kebab.limits.worker`). A `Signal` is
an error that kebab raises on purpose, not a signal of the system.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NamedTuple, TypeAlias

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.errors.signal import Signal


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

_SHORTEST_ALARM_S = 0.001

_Handler: TypeAlias = Callable[[int, FrameType | None], None]


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


def read_processor_time(pid: int) -> float:
    """Return the processor time of another process in seconds; 0 when it cannot be read."""
    if sys.platform == "linux":
        with suppress(OSError):  # the process has ended
            # The number of the clock, as `clock_getcpuclockid` of the C library computes it.
            return time.clock_gettime(~pid << 3 | 2)
    return 0.0


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
        with _set_alarms(seconds):
            yield
    except _DeadlinePassed:
        is_late = True
    elapsed = Elapsed(time.thread_time() - processor, time.monotonic() - clock)
    if is_late or (seconds and elapsed.exceeds(seconds)):
        setting = "ingest.deadline_s" if operation == "parse" else None
        raise elapsed.build_timeout(seconds, path, operation, setting)


@contextmanager
def _set_alarms(seconds: float) -> Iterator[None]:
    if not seconds or not can_set_alarm():
        yield
        return
    ends = time.thread_time() + seconds

    def check_processor_time(number: int, frame: FrameType | None) -> None:
        # The timer counts all threads of the process, and the limit only this one.
        left = ends - time.thread_time()
        if left <= 0:
            _raise_deadline_passed(number, frame)
        signal.setitimer(signal.ITIMER_PROF, max(left, _SHORTEST_ALARM_S))

    with (
        _set_alarm(signal.ITIMER_REAL, signal.SIGALRM, _raise_deadline_passed),
        _set_alarm(signal.ITIMER_PROF, signal.SIGPROF, check_processor_time),
    ):
        signal.setitimer(signal.ITIMER_REAL, seconds * WALL_FACTOR)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield


@contextmanager
def _set_alarm(timer: int, sent: int, handler: _Handler) -> Iterator[None]:
    """Handle the signal of a timer in the block; an alarm of others is set again after it."""
    is_active = True

    def handle_while_active(number: int, frame: FrameType | None) -> None:
        # One that runs late would start the timer again, and its signal may end the process.
        if is_active:
            handler(number, frame)

    started = time.monotonic()
    other_alarm, interval = signal.getitimer(timer)
    before = signal.signal(sent, handle_while_active)
    try:
        yield
    finally:
        is_active = False
        signal.setitimer(timer, 0)
        signal.signal(sent, before or signal.SIG_DFL)
        if other_alarm:
            left = max(other_alarm - (time.monotonic() - started), _SHORTEST_ALARM_S)
            signal.setitimer(timer, left, interval)


def can_set_alarm() -> bool:
    """Return whether a deadline can interrupt this thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _raise_deadline_passed(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _DeadlinePassed
