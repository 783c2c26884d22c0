import os
import signal

import pytest

from kebab.cli.context import Interrupts


@pytest.fixture
def left():
    return []


@pytest.fixture
def interrupts(left):
    return Interrupts(lambda: left.append(True))


def test_work_that_is_not_cancellable_is_interrupted(interrupts):
    with pytest.raises(KeyboardInterrupt):
        interrupts.interrupt()


def test_the_first_interruption_asks_work_to_stop_and_reports_it(interrupts, left):
    said = []

    with interrupts.cancelling(lambda: said.append("stopping")) as cancel:
        interrupts.interrupt()

        assert (cancel.requested, said, left) == (True, ["stopping"], [])


def test_the_second_interruption_leaves_and_further_ones_are_ignored(interrupts, left):
    with interrupts.cancelling(lambda: None):
        interrupts.interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()
        interrupts.interrupt()

    assert left == [True]


def test_completed_work_is_not_cancelled(interrupts):
    with interrupts.cancelling(lambda: None) as cancel:
        pass

    with pytest.raises(KeyboardInterrupt):
        interrupts.interrupt()
    assert not cancel.requested


def test_new_work_resets_the_count(interrupts, left):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()
        assert not interrupts.repeated
        interrupts.reset()

    assert left == []


def test_a_second_interruption_is_repeated(interrupts):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts.interrupt()

    assert interrupts.repeated


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_both_signals_are_interruptions(interrupts, number):
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        interrupts.install()
        with interrupts.cancelling(lambda: None) as cancel:
            os.kill(os.getpid(), number)

            assert cancel.requested
            assert interrupts.terminated == (number == signal.SIGTERM)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
