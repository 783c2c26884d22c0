from typing import get_args

import pytest

from kebab.core.progress import Progress, ProgressKind, RateMeter
from kebab.wire.ingest import EventKind


class FakeClock:
    """A clock that only its owner moves on."""

    now = 1000.0

    def __call__(self):
        return self.now


def count(done, total=10_000, unit="files"):
    kind = ProgressKind.ASSET_FINISHED
    return Progress(kind, done=done, total=total, unit=unit)


def run(clock, meter, steps):
    """Return the events of steps of ten seconds with their counts."""
    events = []
    for done in steps:
        events.append(meter.add_estimate(count(done)))
        clock.now += 10
    return events


def test_the_rate_is_that_of_the_last_minute():
    clock = FakeClock()
    slow, fast = range(0, 100, 10), range(100, 2_000, 200)

    last = run(clock, RateMeter(clock), [*slow, *fast])[-1]

    assert (last.done, last.per_second) == (1_900, 20.0)
    assert last.seconds_left == pytest.approx((10_000 - 1_900) / 20)


def test_the_first_events_of_a_phase_have_no_estimate():
    clock = FakeClock()
    meter = RateMeter(clock)

    first, second = run(clock, meter, [0, 100])
    embedding = meter.add_estimate(count(0, unit="chunks"))

    assert (first.per_second, second.per_second, embedding.per_second) == (None, 10.0, None)


def test_an_unknown_total_has_a_rate_and_no_time():
    clock = FakeClock()
    meter = RateMeter(clock)
    meter.add_estimate(count(0, total=None))
    clock.now += 10

    event = meter.add_estimate(count(5, total=None))

    assert (event.per_second, event.seconds_left) == (0.5, None)


def test_every_kind_of_event_has_a_wire_kind():
    assert {kind.value for kind in ProgressKind} == set(get_args(EventKind))
