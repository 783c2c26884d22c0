"""Starts, asks and stops the warm process in the background, and owns its socket."""

import errno
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from kebab.config.sockets import is_private_folder
from kebab.errors.system import translate_os_errors
from kebab.platform import lock_descriptor
from kebab.warm import client
from kebab.warm.client import CONTROL

LOCK, _NEW = ".lock", ".new"
_BACKLOG = 64


class SocketLock:
    """The right to listen at one path; it ends with `close`, or with the process."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: str) -> Self | None:
        """Return the lock of a socket; None when a process has it.

        Raises:
            IoError: The folder is not private, or the file system refused.
        """
        folder = os.path.dirname(path)
        with translate_os_errors(folder, "create"):
            Path(folder).mkdir(mode=0o700, exist_ok=True)
            if not is_private_folder(folder):
                raise PermissionError(errno.EACCES, "other users can enter this folder")
        name = path + LOCK
        with translate_os_errors(name, "create"):
            while True:
                descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                if not lock_descriptor(descriptor):
                    os.close(descriptor)
                    return None
                if _is_same_file(descriptor, name):
                    return cls(path, descriptor)
                os.close(descriptor)  # the process that had it removed the file meanwhile

    def forget(self) -> None:
        """Close the lock in a child, which keeps it locked for the parent."""
        os.close(self._descriptor)

    def release(self) -> None:
        """Remove the file and free the lock."""
        with suppress(OSError):
            os.unlink(self._path + LOCK)
        os.close(self._descriptor)


class Sockets(NamedTuple):
    """The sockets of a warm process: one for calls, one for its status and its end."""

    calls: socket.socket
    control: socket.socket
    path: str
    inode: int

    @classmethod
    def listen(cls, path: str) -> Self:
        """Listen at a path; what an earlier process left there is replaced.

        Raises:
            IoError: The file system refused.
        """
        with translate_os_errors(path, "create"):
            control, calls = _listen(path + CONTROL), _listen(path)
            return cls(calls, control, path, os.lstat(path).st_ino)

    @property
    def are_ours(self) -> bool:
        """Whether the path still leads to these sockets."""
        try:
            return os.lstat(self.path).st_ino == self.inode
        except OSError:
            return False

    def close(self) -> None:
        """Remove the files and close the sockets."""
        if self.are_ours:
            for name in (self.path, self.path + CONTROL):
                with suppress(OSError):
                    os.unlink(name)
        self.calls.close()
        self.control.close()


def remove_dead_sockets(folder: str) -> None:
    """Remove the sockets of processes that were killed, for instance of an earlier version."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(LOCK):
                path = os.path.join(folder, name.removesuffix(LOCK))
                descriptor = os.open(path + LOCK, os.O_RDWR | os.O_CLOEXEC)
                try:
                    if lock_descriptor(descriptor) and _is_same_file(descriptor, path + LOCK):
                        for end in ("", CONTROL, LOCK):
                            with suppress(OSError):
                                os.unlink(path + end)
                finally:
                    os.close(descriptor)


def create_folder(folder: str) -> bool:
    """Create the folder of sockets; return whether it is there and private."""
    with suppress(OSError):
        os.mkdir(folder, 0o700)
    return is_private_folder(folder)


def is_listening(path: str) -> bool:
    """Return whether a process has the lock of a socket; create nothing."""
    try:
        descriptor = os.open(path + LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not lock_descriptor(descriptor, shared=True)
    except OSError:
        return True
    finally:
        os.close(descriptor)


def _listen(path: str) -> socket.socket:
    """Return a socket that listens; it gets its name when it is ready."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(FileNotFoundError):
        os.unlink(path + _NEW)
    before = os.umask(0o177)
    try:
        made.bind(path + _NEW)
    finally:
        os.umask(before)
    made.listen(_BACKLOG)
    made.setblocking(False)
    os.rename(path + _NEW, path)
    return made


def _is_same_file(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


BACKGROUND = "--background"
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import kebab; del sys.path[0];"
    "from kebab.cli.main import run; run()"
)
"""Runs this copy of kebab, even if another one is installed."""
_CONTROL_S = 2.0
_ANSWER_BYTES = 1 << 16


def start_in_background(flags: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Start the warm process unless it is there; return whether it was started.

    It shares nothing with the caller: neither descriptors, nor the session, nor the terminal.

    The global flags of the call say what the first worker loads.
    """
    path = find_own_socket(environ)
    if path is None or not create_folder(os.path.dirname(path)) or is_listening(path):
        return False
    with suppress(OSError):
        return spawn_kebab(["serve", BACKGROUND, *flags], environ) is not None
    return False


def spawn_kebab(
    arguments: Sequence[str], environ: Mapping[str, str], stdout: int = 0
) -> int | None:
    """Start this copy of kebab in the background.

    It returns the process id, None where the system lacks the means.

    Its output goes to the descriptor `stdout`; 0 discards it, like the rest.

    Raises:
        OSError: The system starts no process.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # With `-P` the working directory is not searched for modules.
    words = [sys.executable, "-P", "-c", _PROGRAM, root, *arguments]
    null = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)]
    copies = [(os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
    closed = [(os.POSIX_SPAWN_CLOSE, number) for number in _list_inherited()]
    actions = [*null, *copies, *closed]
    with suppress(NotImplementedError):
        return os.posix_spawn(
            sys.executable, words, dict(environ), file_actions=actions, setsid=True
        )
    return None


def _list_inherited() -> list[int]:
    """Return the descriptors above the standard ones that a child would inherit."""
    found = []
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if int(name) > 2 and os.get_inheritable(int(name)):  # noqa: PLR2004 - stderr
                found.append(int(name))
    return found


def find_own_socket(environ: Mapping[str, str]) -> str | None:
    """Return the path of the socket that serves calls of this process."""
    return client.find_socket(environ, client.compute_identity(environ))


def ask_status(path: str) -> dict[str, Any] | None:
    """Return the status of the warm process, None when none runs."""
    with suppress(OSError, ValueError), _connect(path) as connection:
        connection.sendall(b"status\n")
        parts = iter(lambda: connection.recv(_ANSWER_BYTES), b"")
        fields: dict[str, Any] = json.loads(b"".join(parts))
        return fields
    return None


def stop(path: str) -> bool:
    """Ask the warm process to end, and wait until it did; return False when none runs.

    Raises:
        TimeoutError: It does not end.
    """
    try:
        with _connect(path) as connection:
            connection.sendall(b"stop\n")
            connection.settimeout(_CONTROL_S * 5)
            with suppress(ConnectionError):
                connection.recv(1)
    except (FileNotFoundError, NotADirectoryError, ConnectionError):
        return False
    return True


def _connect(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CONTROL_S)
    try:
        connection.connect(path + CONTROL)
    except OSError:
        connection.close()
        raise
    return connection
