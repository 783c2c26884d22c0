import signal
import threading
import time
from contextlib import suppress

import pytest

from kebab.errors.catalog import TimedOut
from kebab.limits.deadline import limit_time


def spin(seconds):
    """Work that never looks at the clock of anyone and swallows ordinary errors."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            sum(range(100))
        except Exception:  # noqa: BLE001 - that is what foreign parsers do
            return


def test_work_that_never_ends_is_interrupted():
    started = time.monotonic()

    with pytest.raises(TimedOut) as caught, limit_time(0.05, "a.md"):
        spin(10)

    assert time.monotonic() - started < 5
    assert (caught.value.operation, caught.value.deadline_ms) == ("parse", 50)
    assert caught.value.elapsed_ms >= 50


def test_work_in_time_is_left_alone():
    with limit_time(10, "a.md"):
        spin(0.001)

    assert not 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 10


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


def test_without_a_limit_no_alarm_is_set():
    handler = signal.getsignal(signal.SIGALRM)

    with limit_time(0, "a.md"):
        assert signal.getsignal(signal.SIGALRM) is handler


def test_an_error_of_the_work_passes():
    with pytest.raises(KeyError), limit_time(10, "a.md"):
        raise KeyError


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
