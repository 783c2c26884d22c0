import os
import pickle
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from kebab.limits.worker import (
    Reply,
    WorkerProcess,
    run_handler,
    serve,
    wait_for_replies,
)

LIMIT_MB = 300


def echo(task):
    return task


def leave(status):
    os._exit(status)


def start_sleeper(_):
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return process.pid


class Broken:
    """Cannot be restored in another process."""

    def __call__(self, task):
        return task

    def __reduce__(self):
        return leave, (1,)


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


def test_the_peak_of_the_caller_is_not_that_of_the_worker():
    few = 60  # this process has had more
    with WorkerProcess(leave, few) as worker:
        receive(worker)
        worker.send(7)

        assert receive(worker) is None
        assert worker.explain_end() == "the parser ended its process (status 7)"


def test_closing_also_ends_what_the_worker_started():
    with WorkerProcess(start_sleeper, LIMIT_MB) as worker:
        receive(worker)
        worker.send(None)
        child = receive(worker).result

    assert wait_until(lambda: has_ended(child))


def test_a_handler_that_cannot_be_restored_ends_the_worker_before_it_is_ready():
    with WorkerProcess(Broken(), LIMIT_MB) as worker:
        assert receive(worker) is None
        assert not worker.is_ready


def test_replies_of_several_workers_are_awaited_together(worker):
    with WorkerProcess(echo, LIMIT_MB) as other:
        receive(worker)
        receive(other)
        other.send("task")

        assert wait_for_replies([worker, other], 60) == [other]
        assert wait_for_replies([worker], 0) == []


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
    assert wait_until(lambda: has_ended(int(ended.stdout)))


def has_ended(pid):
    """Return whether a process has ended; one that nobody waited for is a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def wait_until(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


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


def test_a_lack_of_memory_is_no_fault_of_the_parser():
    with pytest.raises(MemoryError):
        run_handler(fail, MemoryError())


def test_a_reply_survives_its_way():
    assert pickle.loads(pickle.dumps(Reply("text", 3, "why"))) == Reply("text", 3, "why")
