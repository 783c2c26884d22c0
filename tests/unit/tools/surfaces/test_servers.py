"""Processes of a home are found, ended and waited for."""

import os
import subprocess
import sys

import pytest

from tools.surfaces.servers import (
    is_warm,
    list_processes,
    run_server,
    wait_until_gone,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def sleeper(tmp_path):
    command = [sys.executable, "-c", "print(flush=True); input()"]
    environment = {"HOME": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_the_processes_of_a_home_are_found(tmp_path, sleeper):
    assert [*list_processes(tmp_path)] == [sleeper.pid]


def test_processes_that_stay_are_returned(tmp_path, sleeper):
    assert [*wait_until_gone(tmp_path, 0.0)] == [sleeper.pid]
    sleeper.kill()
    sleeper.wait()
    assert wait_until_gone(tmp_path, 5.0) == {}


def test_a_server_ends_with_its_context(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path)}
    with run_server(("no-such-command",), environment, tmp_path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"error: ")

    assert process.poll() is not None


def test_no_process_is_warm_in_a_new_home(tmp_path):
    assert not is_warm({**os.environ, "HOME": str(tmp_path)}, tmp_path)
