"""Measures the rate of long work, and estimates how long it goes on.

The progress of the command line and the published state of a running ingest use it.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from kebab.core.progress import Progress
from kebab.limits.worker import measure_processor_time
from kebab.platform import read_machine_times

WINDOW_S = 60.0
"""The rate is that of the last minute, because older work tells little about what is left."""

_SHORTEST_S = 3.0
"""A shorter time tells too little for an estimate."""

_EVERY_S = 0.5
_BUSY = 0.9
"""The share of its processors from which on a machine has no time left over."""

_LONGER = 1.25
"""The factor from which on the work of other programs is worth a word."""


class ProcessorTimes(NamedTuple):
    """Seconds of processor time: of this program with its workers, of all programs, and unused."""

    own: float
    busy: float
    idle: float


def measure_processor_times() -> ProcessorTimes | None:
    """Return the present processor times; None where the system does not tell them."""
    times = read_machine_times()
    unused = sum(times[3:5])
    return ProcessorTimes(measure_processor_time(), sum(times) - unused, unused) if times else None


class _Sample(NamedTuple):
    """The state of a phase at a time."""

    clock: float
    done: int
    times: ProcessorTimes | None


class RateMeter:
    """Adds the rate of the last minute, and the time that is left, to the events of work.

    A phase begins with another unit, and with a count below the last one.

    Args:
        clock: Returns monotonic seconds.
        measure: Returns the processor times; None for work that does not wait for processors.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        measure: Callable[[], ProcessorTimes | None] = measure_processor_times,
    ) -> None:
        self._clock = clock
        self._measure = measure
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
            self._samples.append(_Sample(now, event.done, self._measure()))
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
        share = _measure_share(first.times, last.times)
        alone = left * share if share * _LONGER <= 1 else None
        return event._replace(per_second=rate, seconds_left=left, seconds_left_alone=alone)


def _measure_share(first: ProcessorTimes | None, last: ProcessorTimes | None) -> float:
    """Return the share of this program in the processor time that was used between two times.

    It is 1 where the machine had time left over, because nothing waited then, and where its times
    are not known.
    """
    if first is None or last is None:
        return 1.0
    busy, idle = last.busy - first.busy, last.idle - first.idle
    if busy <= 0 or busy < _BUSY * (busy + idle):
        return 1.0
    return min(1.0, (last.own - first.own) / busy)
