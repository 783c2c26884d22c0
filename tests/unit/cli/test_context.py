import os
import signal
from contextlib import suppress

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts, list_place_flags
from kebab.cli.options import Flags


def new_context():
    channels = OutputChannels(OutputChannel(-1, "<stdout>"), OutputChannel(-1, "<stderr>"))
    return CommandContext(channels, Interrupts(lambda: None))


@pytest.fixture
def context():
    return new_context()


@pytest.fixture
def left():
    return []


@pytest.fixture
def interrupts(left):
    return Interrupts(lambda: left.append(True))


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


def test_the_places_of_a_call_are_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    assert list_place_flags(Flags(data_dir="kb")) == ["--data-dir", f"{tmp_path}/kb"]
    assert list_place_flags(Flags()) == []


def test_an_interruption_that_a_library_drops_ends_the_work_later():
    interrupts = Interrupts(leave=lambda: None)
    interrupts.raise_swallowed()
    with suppress(KeyboardInterrupt):
        interrupts.interrupt()

    with pytest.raises(KeyboardInterrupt):
        interrupts.raise_swallowed()
    interrupts.reset()
    interrupts.raise_swallowed()
