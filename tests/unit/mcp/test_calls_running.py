"""Calls run in a few threads; whoever gives one up frees its place."""

import threading

import pytest

from kebab.mcp.calls import Call, RunningCalls

DEADLINE_S = 30


@pytest.fixture
def calls():
    return RunningCalls()


@pytest.fixture
def occupy(calls):
    """Start a call for every place; each goes on until it is told to stop."""
    begun = threading.Barrier(5)

    def work(call):
        begun.wait(DEADLINE_S)
        while not call.cancel.requested:
            threading.Event().wait(0.01)

    started = [Call(work) for _ in range(4)]
    for call in started:
        calls.start(call)
    begun.wait(DEADLINE_S)
    yield started
    calls.stop(DEADLINE_S)


def test_a_call_waits_for_a_place_and_gets_that_of_one_which_was_given_up(calls, occupy):
    ran = threading.Event()
    calls.start(Call(lambda _: ran.set()))
    assert not ran.wait(0.05)

    calls.give_up(occupy[0])

    assert ran.wait(DEADLINE_S)


def test_a_call_that_is_given_up_before_it_begins_does_nothing(calls, occupy):
    ran = threading.Event()
    waiting = Call(lambda _: ran.set())
    calls.start(waiting)
    calls.give_up(waiting)
    calls.stop(DEADLINE_S)

    assert not ran.is_set()
