"""Measures the rate of long work, and estimates how long it goes on.

The progress of the command line and the published state of a running ingest use it.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from kebab.core.progress import Progress

WINDOW_S = 60.0
"""The rate is that of the last minute, because older work tells little about what is left."""

_SHORTEST_S = 3.0
"""A shorter time tells too little for an estimate."""

_EVERY_S = 0.5


class _Sample(NamedTuple):
    """The state of a phase at a time."""

    clock: float
    done: int


class RateMeter:
    """Adds the rate of the last minute, and the time that is left, to the events of work.

    A phase begins with another unit, and with a count below the last one.

    `clock` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._phase: tuple[str | None, str | None] = (None, None)
        self._samples: deque[_Sample] = deque()
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
        if not self._samples or now - self._samples[-1].clock >= _EVERY_S:
            self._samples.append(_Sample(now, event.done))
        while now - self._samples[0].clock > WINDOW_S and len(self._samples) > 1:
            self._samples.popleft()
        first, last = self._samples[0], self._samples[-1]
        seconds, done = last.clock - first.clock, last.done - first.done
        if seconds < _SHORTEST_S or done <= 0:
            return event
        rate = done / seconds
        if event.total is None:
            return event._replace(per_second=rate)
        left = max(0, event.total - event.done) / rate
        return event._replace(per_second=rate, seconds_left=left)
