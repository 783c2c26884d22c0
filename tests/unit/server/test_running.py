import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kebab.server.running import (
    build_local_url,
    find_server,
    list_servers,
    open_server_folder,
    stop_server,
)
from kebab.wire.health import RunningServer
from tests.fakes.waiting import PATIENCE_S, wait_until


@pytest.fixture
def record():
    return RunningServer(
        url="http://127.0.0.1:7717",
        pid=os.getpid(),
        version="0.1.0",
        started_at="2026-01-01T00:00:00.000Z",
        data_dir="/data",
        allow_write=False,
    )


HOLD = """
import os, sys, time
from pathlib import Path
from kebab.server.running import open_server_folder
with open_server_folder(Path(sys.argv[1])) as folder:
    (folder.path / "server.json").write_text(sys.argv[2].replace("PID", str(os.getpid())))
    print("ready", flush=True)
    time.sleep(60)
"""
RECORD = (
    '{"url":"http://127.0.0.1:1","pid":PID,"version":"0","started_at":"t","data_dir":"/data",'
    '"allow_write":false}'
)


@pytest.fixture
def other(tmp_path):
    """A server in another process."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), RECORD], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield process
        process.kill()


def test_a_server_is_found_by_its_data_folder_while_it_runs(tmp_path, record):
    assert find_server(tmp_path, Path("/data")) is None
    with open_server_folder(tmp_path) as folder:
        assert list(list_servers(tmp_path)) == []
        folder.write(record)
        assert (folder.path / "server.json").stat().st_mode & 0o777 == 0o600
        (folder.path / "server.json").write_text("broken")
        assert folder.read() is None

    assert list((tmp_path / "servers").iterdir()) == []


def test_a_server_of_another_process_runs_until_it_is_stopped(tmp_path, other):
    running = find_server(tmp_path, Path("/data"))
    assert running
    folder, found = running

    assert found.pid == other.pid
    assert find_server(tmp_path, Path("/other")) is None
    stop_server(folder, found)
    assert other.wait(PATIENCE_S) == -signal.SIGTERM
    assert find_server(tmp_path, Path("/data")) is None


def test_what_a_killed_server_left_is_deleted(tmp_path, other):
    assert find_server(tmp_path, Path("/data"))
    other.kill()
    wait_until(lambda: find_server(tmp_path, Path("/data")) is None)

    assert list((tmp_path / "servers").iterdir()) == []


def test_the_address_is_one_of_this_machine():
    assert build_local_url("http://0.0.0.0:80") == "http://127.0.0.1:80"
    assert build_local_url("http://[::]:80") == "http://[::1]:80"
    assert build_local_url("http://notes.lan:80") == "http://notes.lan:80"
