"""Declares the progress of long work: its events, cancellation and rate."""

import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias


class ProgressKind(StrEnum):
    """The kinds of progress events; exactly one terminal event ends a run."""

    SCAN_STARTED = "scan_started"
    SCAN_COMPLETED = "scan_completed"
    ASSET_STARTED = "asset_started"
    ASSET_FINISHED = "asset_finished"
    MODEL_FETCH = "model_fetch"
    EMBED_BATCH = "embed_batch"
    HEARTBEAT = "heartbeat"
    COMPLETED = "completed"
    ABORTED = "aborted"


class Progress(NamedTuple):
    """One event. `done` and `total` count files, bytes or chunks, as `unit` says.

    `per_second` is the rate of the last minute, and `seconds_left` what is left at this rate.
    """

    kind: ProgressKind
    path: str | None = None
    phase: str | None = None
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    message: str | None = None
    elapsed_ms: int = 0
    per_second: float | None = None
    seconds_left: float | None = None


ProgressCallback: TypeAlias = Callable[[Progress], None]


def ignore_progress(_event: Progress) -> None:
    """Ignore an event."""


class Cancel:
    """A flag that stops work; a signal handler or another thread may set it."""

    requested = False

    def request(self) -> None:
        """Ask the work to stop after its current step."""
        self.requested = True


WINDOW_S = 60.0
"""The rate is that of the last minute, because older work tells little about what is left."""

_SHORTEST_S = 3.0
"""A shorter time tells too little for an estimate."""

_EVERY_S = 0.5


class RateMeter:
    """Adds the rate of the last minute, and the time that is left, to the events of work.

    A phase begins with another unit, and with a count below the last one. `clock` returns monotonic
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._phase: tuple[str | None, str | None] = (None, None)
        self._samples: deque[tuple[float, int]] = deque()  # times, with what was done
        self._last = 0

    def add_estimate(self, event: Progress) -> Progress:
        """Return an event with its estimate, if it has a count and the rate is known."""
        if event.done is None:
            return event
        now, phase = self._clock(), (event.unit, event.phase)
        if phase != self._phase or event.done < self._last:
            self._phase = phase
            self._samples.clear()
        self._last = event.done
        if not self._samples or now - self._samples[-1][0] >= _EVERY_S:
            self._samples.append((now, event.done))
        while now - self._samples[0][0] > WINDOW_S and len(self._samples) > 1:
            self._samples.popleft()
        (began, before), (last, after) = self._samples[0], self._samples[-1]
        seconds, done = last - began, after - before
        if seconds < _SHORTEST_S or done <= 0:
            return event
        rate = done / seconds
        if event.total is None:
            return event._replace(per_second=rate)
        left = max(0, event.total - event.done) / rate
        return event._replace(per_second=rate, seconds_left=left)
