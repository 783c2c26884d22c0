import os
import socket
import stat
import time

import pytest

from kebab.errors.catalog import IoError
from kebab.warm import client, start
from kebab.warm.start import SocketLock, Sockets, is_listening, remove_dead_sockets
from tests.fakes.warm import run_call


def test_a_cold_call_leaves_one_warm_process_that_stop_ends(base, runtime):
    environ = base | {"XDG_RUNTIME_DIR": str(runtime), "KEBAB_DAEMON_AUTO": "true"}
    del environ["PYTHONPATH"]  # the warm process runs the copy of its caller without it too
    assert run_call(environ, "search", "sourdough").returncode == 0
    try:
        deadline = time.monotonic() + 30
        while run_call(environ, "serve", "--status").returncode and time.monotonic() < deadline:
            time.sleep(0.1)
        status = run_call(environ, "serve", "--status", "--json")
        assert (status.returncode, b'"running":true' in status.stdout) == (0, True)
    finally:
        stopped = run_call(environ, "serve", "--stop", "--json")
    assert (stopped.returncode, b'"running":false' in stopped.stdout) == (0, True)
    assert list((runtime / "kebab").iterdir()) == []


def test_stop_tells_what_it_did(warm):
    assert warm.call("serve", "--stop").stdout == b"the warm process ended\n"
    assert warm.call("serve", "--stop").stdout == b"the warm process does not run\n"


def test_without_a_warm_process_there_is_no_status_and_nothing_to_stop(runtime):
    path = str(runtime / "abc")

    assert start.ask_status(path) is None
    assert start.stop(path) is False


def test_its_own_socket_is_that_of_its_calls():
    environ = {"XDG_RUNTIME_DIR": "/run/user/7"}
    identity = client.compute_identity(environ)

    assert start.find_own_socket(environ) == client.find_socket(environ, identity)


@pytest.fixture
def path(runtime):
    return str(runtime / "kebab" / "abc")


def test_one_process_has_the_lock(path):
    lock = SocketLock.acquire(path)

    assert lock is not None
    assert is_listening(path)
    assert SocketLock.acquire(path) is None
    lock.release()
    assert not is_listening(path)
    assert os.listdir(os.path.dirname(path)) == []  # noqa: PTH120, PTH208 - a string


def test_a_folder_that_others_can_enter_is_refused(runtime, path):
    (runtime / "kebab").mkdir()
    (runtime / "kebab").chmod(0o755)

    with pytest.raises(IoError):
        SocketLock.acquire(path)


def test_sockets_replace_what_a_killed_process_left(path):
    lock = SocketLock.acquire(path)
    assert lock is not None
    first = Sockets.listen(path)
    second = Sockets.listen(path)

    assert not first.are_ours
    assert second.are_ours
    assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600
    first.close()
    assert second.are_ours
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
    second.close()
    lock.release()
    assert os.listdir(os.path.dirname(path)) == []  # noqa: PTH120, PTH208 - a string


def test_sockets_of_killed_processes_are_removed_and_others_stay(runtime, path):
    lock = SocketLock.acquire(path)
    assert lock is not None
    sockets = Sockets.listen(path)
    for end in ("", ".lock", ".ctl"):
        (runtime / "kebab" / f"dead{end}").touch()
    remove_dead_sockets(str(runtime / "kebab"))

    assert sorted(os.listdir(runtime / "kebab")) == ["abc", "abc.ctl", "abc.lock"]  # noqa: PTH208
    sockets.close()
    lock.release()
