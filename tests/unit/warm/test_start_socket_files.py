import os
import socket
import stat

import pytest

from kebab.errors.catalog import IoError
from kebab.warm.start import SocketLock, Sockets, is_listening, remove_dead_sockets


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
