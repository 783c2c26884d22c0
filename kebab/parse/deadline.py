"""Runs a parser under a deadline and turns its unexpected exceptions into `ParseFailed`."""

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kebab.errors.catalog import ParseFailed, TimedOut

_AT_ONCE_S = 0.001


class _Passed(BaseException):
    """The alarm rang; not an `Exception`, so that nothing between swallows it."""


@contextmanager
def deadline(seconds: float, operation: str) -> Iterator[None]:
    """Raise `TimedOut` when the body takes longer; 0 means no limit.

    On the main thread an alarm interrupts the body. On another thread no alarm can be had, so
    the body ends by itself and is refused then.
    """
    started = time.monotonic()
    try:
        with _alarm(seconds):
            yield
    except _Passed:
        raise _timed_out(started, seconds, operation) from None
    if seconds and time.monotonic() - started > seconds:
        raise _timed_out(started, seconds, operation)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if not seconds or not _can_ring():
        yield
        return
    started = time.monotonic()
    others, interval = signal.getitimer(signal.ITIMER_REAL)
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if others:
            # Whoever had set the alarm for something else gets it back.
            left = max(others - (time.monotonic() - started), _AT_ONCE_S)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def _can_ring() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _ring(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _Passed


def _timed_out(started: float, seconds: float, operation: str) -> TimedOut:
    return TimedOut(
        operation=operation,
        elapsed_ms=round((time.monotonic() - started) * 1000),
        deadline_ms=round(seconds * 1000),
    )


SURPRISES: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    NameError,
    RuntimeError,
    StopIteration,
    SystemError,
    TypeError,
    ValueError,
    re.error,
)
"""Every exception of Python that a parser and the libraries below it may raise for odd bytes."""


@contextmanager
def surprised(path: str, parser: str) -> Iterator[None]:
    """Turn what a parser raises for a file that it was not made for into `ParseFailed`."""
    try:
        yield
    except SURPRISES as fault:
        cause = f"{type(fault).__name__}: {fault}"
        raise ParseFailed(path=path, parser=parser, cause=cause) from fault


@contextmanager
def guard_parser(path: str, parser: str, seconds: float) -> Iterator[None]:
    """Run a parser under a deadline, and turn its unexpected exceptions into `ParseFailed`."""
    with deadline(seconds, "parse"), surprised(path, parser):
        yield
