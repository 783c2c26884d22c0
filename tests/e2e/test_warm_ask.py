"""Questions that a warm process answers, and that are interrupted, left, or lose their worker."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

if sys.platform == "win32":
    pytest.skip("there is no warm process on Windows", allow_module_level=True)

from tests.fakes.ollama import Pause, Say, fake_ollama
from tests.fakes.waiting import read_until, wait_for_request
from tests.fakes.warm import start_warm_process

pytestmark = pytest.mark.xdist_group("warm_ask")  # one worker starts the warm process

QUESTION = "What is checked first when a restore fails?"
ANSWER = "Check the repository first [1]."
ENDLESS = ("Check the repository first", Pause(120), " [1].")
PATIENCE_S = 20
SOON_S = 3.0
CHANGING = re.compile(rb'(?<=_ms":)[\d.e-]+|(?<=_id":")\w+|\d{4}-\d\d-\d\dT[\d:.]+Z')


@pytest.fixture(scope="module")
def warm(ingested):
    with start_warm_process(ingested.environment) as process:
        yield process


@pytest.fixture
def server():
    with fake_ollama("gemma3:4b") as made:
        yield made


@pytest.fixture
def ask(warm, server):
    """Return a function that starts a question, in the warm process or in one of its own."""
    started = []

    def start(*flags, is_warm=True):
        line = [sys.executable, "-m", "kebab", "ask", QUESTION, "--limit", "1", *flags]
        auto = {"KEBAB_DAEMON_AUTO": "true" if is_warm else "false"}
        environ = {**warm.environ, "OLLAMA_HOST": server.url, **auto}
        process = subprocess.Popen(
            line, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def find_busy_workers(warm):
    status = warm.read_status()
    return [worker["pid"] for worker in status["workers"] if worker["busy"]]


def test_a_worker_that_dies_amid_a_shown_answer_is_an_error(warm, ask, server, read_lines):
    warm.wait_until_idle()
    server.enqueue(Say(*ENDLESS))
    process = ask("--stream")
    shown = read_until(process.stdout, b'"type":"token"')
    (worker,) = find_busy_workers(warm)
    os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE_S)

    (error,) = [one for one in read_lines(err) if one["schema_version"] == "error.v1"]
    assert (process.returncode, error["exit_code"], error["command"]) == (2, 2, "ask")
    assert error["code"] == "io_error"
    assert error["details"] | {"op": "read", "cause": "the warm process ended"} == error["details"]
    assert error["details"]["path"] == warm.socket
    assert (shown.count(b'"type":"token"'), out) == (1, b"")


def test_a_worker_that_dies_before_anything_is_shown_costs_only_time(warm, ask, server):
    warm.wait_until_idle()
    server.enqueue(Say("late", held_s=120), Say(ANSWER))
    process = ask("--output-format=text")
    wait_for_request(server)
    (worker,) = find_busy_workers(warm)
    os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, b"error" in err) == (0, False)
    assert out.startswith(ANSWER.encode() + b"\n\n [1] work/backups.md")


SIGNS = {"--json": ("stderr", b"heartbeat"), "--stream": ("stdout", b'"type":"token"')}
"""Where a process says that words arrived; as text it says nothing before the end."""


@pytest.mark.parametrize(
    ("flag", "count"),
    [("--json", 1), ("--stream", 1), ("--stream", 2), ("--output-format=text", 1)],
)
def test_an_interrupted_question_ends_as_in_a_process_of_its_own(warm, ask, server, flag, count):
    results = []
    for is_warm in (True, False):
        warm.wait_until_idle()
        before = warm.count_calls()
        server.asked.clear()
        server.enqueue(Say(*ENDLESS) if flag in SIGNS else Say("late", held_s=120))
        process = ask(flag, is_warm=is_warm)
        request = wait_for_request(server)
        if flag in SIGNS:
            channel, words = SIGNS[flag]
            read_until(getattr(process, channel), words)
        began = time.monotonic()
        for _ in range(count):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - began < SOON_S
        assert request.hung_up.wait(PATIENCE_S)
        assert warm.count_calls() - before == is_warm
        results.append((process.returncode, CHANGING.sub(b"", out), CHANGING.sub(b"", err)))

    assert [status for status, *_ in results] == [130, 130]
    # What is still told before a second signal depends on the moment at which it comes.
    assert count == 2 or results[0] == results[1]


def test_a_client_that_leaves_ends_its_question(warm, ask, server):
    warm.wait_until_idle()
    server.enqueue(Say(*ENDLESS))
    process = ask("--stream")
    read_until(process.stdout, b'"type":"token"')
    request = wait_for_request(server)
    process.kill()

    assert request.hung_up.wait(SOON_S)
    assert warm.wait_until_idle()
