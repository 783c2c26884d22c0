"""Starts kebab in the background, and asks a warm process for its status or its end."""

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kebab.warm import place
from kebab.warm.socket_files import CONTROL, create_folder, is_listening

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

    Args:
        flags: The global flags of the call, which say what the first worker loads.
        environ: The environment of the call.
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

    Args:
        arguments: The command line.
        environ: The environment.
        stdout: The descriptor for its output; 0 discards it, like the rest.

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
    return place.find_socket(environ, place.compute_identity(environ))


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
