import os
import signal
import sys
import threading

import pytest

from kebab.bench.sandbox import Outcome, run_process
from tests.shape.tree import ROOT


def python(program):
    return [sys.executable, "-c", program]


def test_output_status_time_and_memory_are_reported(tmp_path):
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"

    outcome = run_process(python(program), os.environ, tmp_path)

    assert (outcome.status, outcome.out, outcome.err) == (3, b"out\n", b"err\n")
    assert outcome.seconds > 0
    assert outcome.peak_bytes > 1_000_000


_LEAN = """
import os, pathlib, sys
from kebab.bench.sandbox import run_process
for program in ("pass", "x = b'x' * 200_000_000"):
    print(run_process([sys.executable, "-c", program], os.environ, pathlib.Path()).peak_bytes)
"""


def test_memory_of_the_child_is_reported(tmp_path):
    """A child's peak is never below that of its parent, so a lean parent has to measure."""
    outcome = run_process(python(_LEAN), {**os.environ, "PYTHONPATH": str(ROOT)}, tmp_path)
    small, large = map(int, outcome.out.split())

    assert large - small > 80_000_000


def test_much_output_does_not_block(tmp_path):
    outcome = run_process(python("print('x' * 1_000_000)"), os.environ, tmp_path)

    assert len(outcome.out) == 1_000_001


def test_a_process_runs_in_its_folder_with_its_environment(tmp_path):
    program = "import os; print(os.getcwd(), os.environ['ONLY'])"

    outcome = run_process(python(program), {"ONLY": "this"}, tmp_path)

    assert outcome.out.decode().split() == [str(tmp_path), "this"]


def test_an_interruption_ends_the_child(tmp_path):
    record = tmp_path / "pid"
    program = (
        f"import os, pathlib, time; pathlib.Path({str(record)!r}).write_text(str(os.getpid()));"
        "time.sleep(60)"
    )

    def interrupt():
        while not (record.exists() and record.read_text()):
            pass
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_process(python(program), os.environ, tmp_path)
    thread.join()

    with pytest.raises(ProcessLookupError):
        os.kill(int(record.read_text()), 0)


def test_a_long_error_message_loses_its_beginning():
    outcome = Outcome(status=1, seconds=0, err=b"x" * 1000 + b"the end")

    failure = str(outcome.describe_failure())
    assert failure.endswith("the end")
    assert len(failure) < 400


def test_a_silent_failure_reports_its_status():
    assert Outcome(status=-9, seconds=0).describe_failure() == "exit status -9"


@pytest.mark.parametrize("out", [b"", b"text", b"[1]", b"\xff"])
def test_a_reply_that_is_no_object_is_empty(out):
    assert Outcome(status=0, seconds=1, out=out).parse_reply() == {}
