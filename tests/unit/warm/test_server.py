import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kebab.warm.server import CodeCheck
from tests.fakes.warm import start_warm_process


def test_it_ends_on_sigterm_and_leaves_nothing(base):
    with start_warm_process(base) as warm:
        workers = warm.wait_until_idle()
        warm.process.send_signal(signal.SIGTERM)
        assert warm.process.wait(timeout=20) == 0

        assert list((warm.runtime / "kebab").iterdir()) == []
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_workers_end_with_a_killed_parent(base):
    with start_warm_process(base) as warm:
        workers = warm.wait_until_idle()
        warm.process.kill()
        warm.process.wait()
        deadline = time.monotonic() + 10
        while any(map(is_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.02)

        assert not any(map(is_alive, workers))
        done = warm.call("search", "sourdough", KEBAB_DAEMON_AUTO="false")
        assert done.returncode == 0


def test_a_worker_that_died_is_replaced_before_the_next_call(base):
    with start_warm_process(base) as warm:
        (before,) = warm.wait_until_idle()
        os.kill(before, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while warm.wait_until_idle() == [before] and time.monotonic() < deadline:
            time.sleep(0.02)
        (worker,) = warm.wait_until_idle()
        calls = warm.count_calls()

        assert worker != before
        assert list_open_databases(worker)
        assert warm.call("search", "sourdough").returncode == 0
        assert warm.count_calls() == calls + 1


def test_the_status_adds_the_memory_of_all_processes(warm):
    warm.wait_until_idle()
    (memory, *workers) = [
        [int(number) for number in re.findall(r"(\d+) MB", line)]
        for line in warm.call("serve", "--status").stdout.decode().splitlines()
        if line.startswith(("memory", "worker"))
    ]

    assert workers
    assert memory[0] == pytest.approx(memory[1] + sum(map(sum, workers)), abs=len(workers) + 1)


def test_it_ends_when_its_socket_is_gone(base):
    with start_warm_process(base) as warm:
        Path(warm.socket).unlink()

        assert warm.process.wait(timeout=20) == 0


def test_a_second_one_does_not_start(warm):
    second = warm.call("serve", "--json")

    assert second.returncode == 1
    assert b'"running":true' in second.stdout
    assert warm.call("serve").stdout.startswith(b"the warm process runs already\npid ")
    assert warm.call("serve").stderr == b""


def list_open_databases(pid):
    files = [entry.readlink() for entry in Path(f"/proc/{pid}/fd").iterdir()]
    return [file for file in files if file.suffix == ".sqlite"]


def is_alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_two_calls_at_once_are_both_served(warm):
    line = [sys.executable, "-m", "kebab", "search", "sourdough", "--json"]
    calls = [subprocess.Popen(line, env=warm.environ, stdout=subprocess.PIPE) for _ in range(4)]

    assert [call.wait(timeout=60) for call in calls] == [0] * 4
    for call in calls:
        assert call.stdout is not None
        call.stdout.close()


def test_code_that_was_not_touched_is_current():
    check = CodeCheck()
    check._EVERY_S = 0.0

    assert check.is_current()


@pytest.mark.parametrize("folder", ["site-packages/kebab", "work/kebab"])
@pytest.mark.parametrize("change", ["touch", "replace", "remove"])
def test_code_that_an_installer_replaced_or_removed_is_not_current(tmp_path, folder, change):
    first = tmp_path / folder / "__init__.py"
    first.parent.mkdir(parents=True)
    first.write_text("")
    check = CodeCheck(str(first.parent))
    check._EVERY_S = 0.0
    assert check.is_current()
    if change == "touch":
        os.utime(first, (1, 1))
    else:
        first.unlink()
    if change == "replace":
        first.write_text("new")

    assert not check.is_current()
