import marshal
import os
import re
import socket
import subprocess
import sys

import pytest

from kebab.config.settings import Daemon, Settings
from kebab.core.progress import RunCold
from kebab.warm.client import ACKNOWLEDGED, RESULT
from kebab.warm.worker import (
    KebabOpener,
    ProcessState,
    read_memory,
    read_memory_share,
    replace_environment,
)

CHANGING = re.compile(
    rb'(?<=_ms":)[\d.e-]+|(?<=_id":")\w+|\d{4}-\d\d-\d\dT[\d:.]+Z|[\d.]+ m?s\b'
    rb'|(?<="sqlite":)\d+'
)


@pytest.fixture
def own_environment():
    before = dict(os.environ)
    yield
    replace_environment(before)


def test_the_environment_becomes_that_of_the_client(own_environment):
    wanted = {"HOME": "/elsewhere", "PATH": os.environ["PATH"]}
    replace_environment(wanted)

    assert dict(os.environ) == wanted


def test_settings_that_switch_the_warm_process_off_run_cold(tmp_path):
    with pytest.raises(RunCold):
        KebabOpener()(Settings(daemon=Daemon(auto=False)), config_path=tmp_path / "config.toml")


def test_the_memory_of_a_process_is_known_while_it_lives():
    assert read_memory(os.getpid()) > 1_000_000
    assert read_memory(-1) == 0


def test_the_share_of_a_process_is_not_more_than_its_memory():
    assert 1_000_000 < read_memory_share(os.getpid()) <= read_memory(os.getpid()) * 1.1
    assert read_memory_share(-1) == 0


def test_a_state_is_restored():
    state = ProcessState.take()
    os.umask(0o007)
    folder = os.getcwd()  # noqa: PTH109 - a string is wanted
    try:
        state.restore()
        assert ProcessState.take() == state
        assert os.getcwd() == "/"  # noqa: PTH109 - a string is wanted
    finally:
        os.chdir(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "김치", "--json"),
        ("list", "--json"),
        ("search", "nothing-of-the-kind"),
        ("fetch", "bread.md"),
        ("schema", "--commands", "--json"),
        ("search", "--nonsense", "--json"),
        ("explain", "locked"),
    ],
)
def test_calls_with_other_environments_between_them_answer_as_cold(warm, tmp_path, arguments):
    warm.call("search", "bread", KEBAB_LANG="ko", TZ="Asia/Seoul", HOME=str(tmp_path))
    served, cold = warm.call(*arguments), warm.call_cold(*arguments)

    assert served.returncode == cold.returncode
    assert drop_times(served.stdout) == drop_times(cold.stdout)
    assert drop_times(served.stderr) == drop_times(cold.stderr)


def drop_times(output):
    return CHANGING.sub(b"", output)


def test_what_reads_stdin_runs_cold(warm):
    done = warm.call("search", "-", "--json", stdin=b"sourdough")

    assert done.returncode == 0
    assert b'"query":"sourdough"' in done.stdout


_FORGOTTEN_WORKER = """
import socket, sys
from kebab.warm.worker import BUSY, CallRunner, Worker

class ClosedControl(socket.socket):
    def send(self, data):
        if data == BUSY:
            raise BrokenPipeError
        return super().send(data)

listener = socket.socket(fileno=int(sys.argv[1]))
listener.setblocking(False)
ours, theirs = socket.socketpair()
control = ClosedControl(fileno=theirs.detach())
runner = CallRunner(lambda call, opener, leave: 7, lambda opener: None)
worker = Worker(listener, control, b"identity", runner, lambda: True)
worker.serve(preload=False)
"""


def test_a_worker_that_its_parent_forgot_answers_the_call_that_it_accepted(tmp_path):
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(path)
        listener.listen()
        client.settimeout(20)
        client.connect(path)
        call = marshal.dumps((b"identity", [], "/", dict(os.environ), 0o22), 2)
        socket.send_fds(client, [len(call).to_bytes(4, "big") + call], [0, 1, 2])
        done = subprocess.run(
            [sys.executable, "-c", _FORGOTTEN_WORKER, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            capture_output=True,
            timeout=20,
            check=False,
        )

        assert (done.returncode, done.stderr) == (0, b"")
        received = b"".join(iter(lambda: client.recv(100), b""))
        result = marshal.dumps((7, []), 2)
        assert received == ACKNOWLEDGED + RESULT + len(result).to_bytes(4, "big") + result
