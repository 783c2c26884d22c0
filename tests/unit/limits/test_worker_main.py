import os
import pickle
import resource
import subprocess
import sys
from multiprocessing.connection import Connection

import pytest

from kebab.limits.worker import Reply, end_with_process, run_handler, serve


def double(task):
    return task * 2


def fail(cause):
    raise cause


def test_the_worker_answers_until_the_caller_closes():
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


def test_a_worker_whose_caller_is_gone_ends():
    with pytest.raises(SystemExit):
        end_with_process(os.getppid() + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="the kind of limit is that of Linux")
@pytest.mark.parametrize(("megabytes", "limit"), [(100, 100 << 20), (0, resource.RLIM_INFINITY)])
def test_the_memory_is_limited_within_what_the_system_allows(megabytes, limit):
    program = (
        "import resource; from kebab.limits.worker import limit_memory;"
        f"limit_memory({megabytes}); print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) == limit


def test_a_reply_survives_its_way():
    assert pickle.loads(pickle.dumps(Reply("text", 3, "why"))) == Reply("text", 3, "why")
