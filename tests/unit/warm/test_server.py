import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kebab.warm.client import RELEASE_REQUEST, release_stores
from kebab.warm.server import CodeCheck
from tests.fakes.waiting import PATIENCE_S, wait_until
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


def list_uses(warm, folder):
    """Return what the parent and its workers have open, mapped or as working directory there."""
    pids = [warm.process.pid, *warm.wait_until_idle()]
    places = [Path(f"/proc/{pid}") for pid in pids]
    links = [link for place in places for link in [place / "cwd", *(place / "fd").iterdir()]]
    used = [os.path.realpath(link) for link in links]
    mapped = "".join((place / "maps").read_text() for place in places)
    return [*(path for path in used if path.startswith(folder)), *re.findall(folder, mapped)]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_process_at_rest_uses_no_file_of_a_knowledge_base(warm):
    assert warm.call("search", "sourdough").returncode == 0

    wait_until(lambda: not list_uses(warm, warm.environ["HOME"]))
    assert warm.call("search", "sourdough").returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_files_are_released_when_a_command_asks(warm):
    assert warm.call("search", "sourdough").returncode == 0
    release_stores(warm.environ, PATIENCE_S)

    assert not list_uses(warm, warm.environ["HOME"])


def test_a_process_that_does_not_answer_is_not_waited_for(runtime):
    folder = runtime / "kebab"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "abc.ctl"))
        listener.listen()
        release_stores({"XDG_RUNTIME_DIR": str(runtime)}, seconds=0.0)
        with listener.accept()[0] as connection:
            assert connection.recv(100) == RELEASE_REQUEST


@pytest.fixture
def mounted(tmp_path):
    """A file system in memory, which is unmounted at the end whatever uses it."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no right to mount")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], capture_output=True, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs")
def test_the_folders_of_a_call_can_be_unmounted_soon(warm, mounted):
    (mounted / "notes").mkdir()
    (mounted / "notes" / "bread.md").write_text("# Bread\n\nSourdough needs time.\n")
    place = ("--data-dir", str(mounted / "data"))
    assert warm.call_cold(*place, "ingest", str(mounted / "notes")).returncode == 0
    calls = warm.count_calls()
    found = subprocess.run(
        [sys.executable, "-m", "kebab", *place, "search", "sourdough"],
        env=warm.environ,
        cwd=mounted / "notes",
        capture_output=True,
        check=False,
    )
    assert (found.returncode, warm.count_calls()) == (0, calls + 1)

    wait_until(
        lambda: (
            not subprocess.run(
                ["umount", str(mounted)], capture_output=True, check=False
            ).returncode
        )
    )


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
