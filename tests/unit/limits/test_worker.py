import os
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from kebab.limits.worker import (
    WorkerProcess,
    run_handler,
    serve,
)
from tests.fakes.waiting import has_ended, wait_until

LIMIT_MB = 300


def echo(task):
    return task


def leave(status):
    os._exit(status)


def receive(worker):
    assert worker.poll(60)
    return worker.receive()


@pytest.fixture
def worker():
    with WorkerProcess(echo, LIMIT_MB) as made:
        yield made


def test_a_busy_worker_gets_no_more_than_its_pipe_holds(worker):
    long = "x" * 30_000

    assert worker.send(long)
    assert not worker.send(long)
    assert worker.send("short")
    assert [receive(worker).result for _ in range(3)] == [None, long, "short"]
    assert worker.send(long)


def test_a_worker_that_left_is_explained_by_its_status():
    with WorkerProcess(leave, LIMIT_MB) as worker:
        receive(worker)
        worker.send(7)

        assert receive(worker) is None
        assert worker.explain_end() == "the parser ended its process (status 7)"


def test_a_worker_ends_with_the_process_that_started_it():
    program = (
        "import os, sys, time; from kebab.limits.worker import WorkerProcess;"
        "w = WorkerProcess(time.sleep, 300); w.poll(60); w.receive(); w.send(600);"
        "print(w._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    root = str(Path(__file__).parents[3])
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": root},
    )

    assert ended.stderr == ""
    wait_until(lambda: has_ended(int(ended.stdout)))


def double(task):
    return task * 2


def fail(cause):
    raise cause


def test_the_worker_answers_until_the_caller_closes(monkeypatch):
    monkeypatch.setattr("kebab.limits.worker._serving", False)  # this process is none afterwards
    asked, answers = os.pipe(), os.pipe()
    to, back = Connection(asked[1], readable=False), Connection(answers[0], writable=False)
    to.send(double)
    to.send("ab")
    to.close()

    serve(asked[0], answers[1], os.getppid(), 0)

    assert [back.recv().result, back.recv().result] == [None, "abab"]
    with pytest.raises(EOFError):
        back.recv()


class Panic(BaseException):
    """Is what libraries of other languages raise."""


@pytest.mark.parametrize(
    ("cause", "fault"),
    [
        (OSError(5, "broken"), "the parser failed: [Errno 5] broken"),
        (Panic("at line 3"), "the parser failed: at line 3"),
        (SystemExit(), "the parser failed"),
    ],
)
def test_an_unexpected_exception_is_a_fault_of_the_task(cause, fault):
    assert run_handler(fail, cause).fault == fault
