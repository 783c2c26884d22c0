import signal
import threading
import time
from contextlib import suppress

import pytest

from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.limits import deadline
from kebab.limits.deadline import (
    Elapsed,
    build_failure,
    describe_failure,
    limit_time,
    raise_memory_error,
)


def spin(seconds):
    """Work that never looks at the clock of anyone and swallows ordinary errors."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        try:
            sum(range(100))
        except Exception:  # noqa: BLE001 - that is what foreign parsers do
            return


def test_waiting_for_other_programs_does_not_count():
    with limit_time(0.1, "a.md"):
        time.sleep(0.5)


def test_the_work_of_other_threads_does_not_count():
    thread = threading.Thread(target=spin, args=(0.6,))
    with limit_time(0.5, "a.md"):
        thread.start()
        thread.join()


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


def test_an_alarm_that_is_handled_late_starts_no_timer():
    with limit_time(5, "a.md"):
        handle = signal.getsignal(signal.SIGPROF)
    assert callable(handle)
    handle(signal.SIGPROF, None)

    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("fault", "cause"),
    [(ValueError("odd"), "the parser failed: odd"), (ValueError(), "the parser failed")],
)
def test_a_failure_is_described_by_its_message(fault, cause):
    assert describe_failure(fault) == cause


def test_only_a_lack_of_memory_is_raised_again():
    error = build_failure("a.pdf", "pdf-v1", "the parser failed")
    raise_memory_error(error)
    error.__cause__ = MemoryError()

    with pytest.raises(MemoryError):
        raise_memory_error(error)

    assert isinstance(error, ParseFailed)
