import signal
import threading
import time
from contextlib import suppress

import pytest

from kebab.errors.catalog import TimedOut
from kebab.limits import deadline
from kebab.limits.deadline import (
    Elapsed,
    limit_time,
)


def spin(seconds):
    """Work that never looks at the clock of anyone and swallows ordinary errors."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        try:
            sum(range(100))
        except Exception:  # noqa: BLE001 - that is what foreign parsers do
            return


def test_work_that_waits_for_ever_is_interrupted():
    with pytest.raises(TimedOut) as caught, limit_time(0.01, "a.md"):
        threading.Event().wait(60)

    assert caught.value.deadline_ms == 10
    assert caught.value.elapsed_ms >= 10 * deadline.WALL_FACTOR


@pytest.mark.parametrize(
    ("elapsed", "is_late"),
    [
        (Elapsed(29.0, 500.0), False),
        (Elapsed(33.0, 33.0), True),
        (Elapsed(0.1, 599.0), False),
        (Elapsed(0.1, 603.0), True),
    ],
    ids=["waited", "worked", "sleeps", "hangs"],
)
def test_a_limit_counts_processor_time_and_much_more_by_the_clock(elapsed, is_late):
    assert elapsed.exceeds(30.0, 2.0) is is_late


@pytest.mark.parametrize("limit", [0.02, 10])
def test_the_alarm_of_others_is_given_back(limit):
    handler = signal.getsignal(signal.SIGALRM)
    timer = signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        with suppress(TimedOut), limit_time(limit, "a.md"):
            spin(0.1)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)

    assert signal.getsignal(signal.SIGALRM) is handler
    assert 90 < left < 99.99


def test_on_another_thread_late_work_is_refused_when_it_ends():
    caught = []

    def work():
        try:
            with limit_time(0.01, "a.md"):
                spin(0.05)
        except TimedOut as signal_:
            caught.append(signal_)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert len(caught) == 1
