"""Limits the time of a block of code, with an alarm where the thread can have one."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kebab.errors.catalog import TimedOut

_SHORTEST_ALARM_S = 0.001


class _DeadlinePassed(BaseException):
    """The deadline passed; this is no `Exception`, so that no parser catches it."""


@contextmanager
def limit_time(seconds: float, path: str, operation: str = "parse") -> Iterator[None]:
    """Raise `TimedOut` when the block needs longer for this file; 0 means no limit.

    The error names the setting with the limit only for the operation `parse`.

    On the main thread an alarm interrupts the block. Other threads have no alarm, so the error is
    raised after the block ends.
    """
    started = time.monotonic()
    try:
        with _set_alarm(seconds):
            yield
    except _DeadlinePassed:
        raise build_timeout(started, seconds, path, operation) from None
    if seconds and time.monotonic() - started > seconds:
        raise build_timeout(started, seconds, path, operation)


@contextmanager
def _set_alarm(seconds: float) -> Iterator[None]:
    if not seconds or not can_set_alarm():
        yield
        return
    started = time.monotonic()
    other_alarm, interval = signal.getitimer(signal.ITIMER_REAL)
    before = signal.signal(signal.SIGALRM, _raise_deadline_passed)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if other_alarm:
            # An alarm that was set before for another purpose is set again.
            left = max(other_alarm - (time.monotonic() - started), _SHORTEST_ALARM_S)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def can_set_alarm() -> bool:
    """Return whether a deadline can interrupt this thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _raise_deadline_passed(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _DeadlinePassed


def build_timeout(started: float, seconds: float, path: str, operation: str = "parse") -> TimedOut:
    """Return the error of a file that took longer than the limit, since the monotonic start."""
    return TimedOut(
        operation=operation,
        elapsed_ms=round((time.monotonic() - started) * 1000),
        deadline_ms=round(seconds * 1000),
        setting="ingest.deadline_s" if operation == "parse" else None,
        path=path,
    )
