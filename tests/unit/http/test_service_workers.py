import os
import signal
import threading
from pathlib import Path

import pytest

from kebab.http import service
from kebab.http.service import ReadWorkers, Task
from tests.fakes.waiting import wait_until

HANGS = "hang"


def handle(task):
    """Answer with the number of the process; a worker is a process that imports this module."""
    if task.operation == HANGS and task.trace is None:
        threading.Event().wait()
    return os.getpid(), task.raw


@pytest.fixture
def make(monkeypatch):
    """Return a function that starts a worker and waits until it answers."""
    # Tests are not installed, so the process has to find them.
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.setattr(service, "_PAUSE_S", 0.0)
    made = []

    def start():
        made.append(ReadWorkers(handle, 1))
        wait_until(lambda: ask(made[-1]))
        return made[-1]

    yield start
    for one in made:
        one.close()


def ask(pool, operation="search", raw=b"{}", trace="t", is_stopped=lambda: False):
    return pool.answer(Task(operation, raw, trace), is_stopped)


def test_a_worker_answers_what_it_is_asked_and_not_what_started_it(make):
    pool = make()
    first, second = ask(pool, raw=b"one"), ask(pool, raw=b"two")

    assert (first[1], second[1]) == (b"one", b"two")
    assert first[0] == second[0] != os.getpid()


def test_a_killed_worker_costs_one_read_and_is_replaced(make):
    pool = make()
    before = ask(pool)[0]
    os.kill(before, signal.SIGKILL)

    assert ask(pool) is None
    found = wait_until(lambda: ask(pool))
    assert found[0] != before


def test_a_read_that_nobody_waits_for_ends_with_its_worker(make, monkeypatch):
    monkeypatch.setattr(service, "_GRACE_S", 0.0)
    pool = make()
    [busy] = pool._resting

    assert ask(pool, HANGS, trace=None, is_stopped=lambda: True) is None
    assert busy._process.returncode is not None
    assert pool._count == 0


def test_unused_workers_end_and_no_more_start_after_the_end(make):
    pool = make()
    pool.end_unused()
    assert len(pool._resting) == 1

    started = [*pool._resting]
    pool.close()
    assert all(one._process.returncode is not None for one in started)
    assert (ask(pool), pool._count) == (None, 0)


def test_a_worker_that_answers_after_the_end_ends_too(make, monkeypatch):
    pool = make()
    [busy] = pool._resting
    send = busy.send
    monkeypatch.setattr(busy, "send", lambda task: (pool.close(), send(task)))

    assert ask(pool) is not None
    assert busy._process.returncode is not None


def test_a_system_without_room_for_a_process_is_asked_again_later(monkeypatch):
    calls = []

    def refuse(*_):
        calls.append(1)
        raise OSError

    monkeypatch.setattr("kebab.limits.worker.WorkerProcess", refuse)
    pool = ReadWorkers(handle, 2)

    assert [ask(pool) for _ in range(4)] == [None] * 4
    assert (len(calls), pool._count) == (1, 0)
