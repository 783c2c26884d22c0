"""Finds, describes and ends the servers of this user, and lets browsers into them.

Each has a private folder in the state folder, with `server.json` and a lock that the system frees
when its process ends. The folders of servers that were killed are deleted by the next command that
looks at them.

A ticket lets a browser in once, for two minutes; its session lasts as long as the server runs. Each
is an empty file with an unguessable name in that folder. So only who can write there can make a
ticket, all processes of the server see it, and the token of the server is never sent.
"""

import os
import re
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec

from kebab.errors.catalog import TimedOut
from kebab.errors.system import translate_os_errors
from kebab.platform import create_folder, delete_path, hold_lock, replace_file
from kebab.wire.health import RunningServer

USUAL_PORT = 7717
_FOLDER, _RECORD, _LOCK = "servers", "server.json", "lock"
_PAUSE_S = 0.05
_STOP_S = 20.0
"""How long a server may take to end: running requests may finish."""


class ServerFolder:
    """The folder of one running server."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> RunningServer | None:
        """Return what the server says of itself; None before it listens."""
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode((self.path / _RECORD).read_bytes(), type=RunningServer)
        return None

    def write(self, record: RunningServer) -> None:
        """Write what the server says of itself.

        Raises:
            IoError: The file cannot be written.
        """
        path = self.path / _RECORD
        with translate_os_errors(path, "write"), replace_file(path) as draft:
            draft.write(msgspec.json.encode(record))

    def build_login(self, url: str, query: str | None = None) -> str:
        """Return the address that lets a browser in once, and shows the hits of a query.

        Raises:
            IoError: The ticket cannot be written.
        """
        with translate_os_errors(self.path, "create"):
            ticket = create_pass(self.path, "ticket")
        fields = {"ticket": ticket, **({"q": query} if query else {})}
        return f"{url}/login?{urlencode(fields)}"


@contextmanager
def open_server_folder(state: Path) -> Iterator[ServerFolder]:
    """Yield the folder of a new server; it is deleted in the end.

    Raises:
        IoError: It cannot be created.
    """
    path = state / _FOLDER / secrets.token_hex(8)
    with translate_os_errors(path, "create"):
        create_folder(path, 0o700)
    try:
        with hold_lock(path / _LOCK):
            yield ServerFolder(path)
    finally:
        with suppress(OSError):
            delete_path(path)


def list_servers(state: Path) -> Iterator[tuple[ServerFolder, RunningServer]]:
    """Yield the servers that run, and delete what others left behind."""
    with suppress(OSError):
        for path in sorted((state / _FOLDER).iterdir()):
            folder = ServerFolder(path)
            record = folder.read()
            if record is None:
                continue
            if _is_alive(path):
                yield folder, record
            else:
                with suppress(OSError):
                    delete_path(path)


def find_server(state: Path, data: Path) -> tuple[ServerFolder, RunningServer] | None:
    """Return the server of a data folder that started last, None when there is none."""
    found = [one for one in list_servers(state) if one[1].data_dir == str(data)]
    return max(found, key=lambda one: one[1].started_at, default=None)


def stop_server(folder: ServerFolder, record: RunningServer) -> None:
    """End a server, and wait until it has ended.

    Raises:
        TimedOut: It does not end.
    """
    with suppress(OSError):
        os.kill(record.pid, signal.SIGTERM)
    started = time.monotonic()
    while _is_alive(folder.path):
        if time.monotonic() - started > _STOP_S:
            limit_ms = round(_STOP_S * 1000)
            raise TimedOut(operation="serve", elapsed_ms=limit_ms, deadline_ms=limit_ms)
        time.sleep(_PAUSE_S)


def _is_alive(path: Path) -> bool:
    """Return whether the server of a folder runs: whether another process holds its lock."""
    if not (path / _LOCK).exists():
        return False
    with suppress(OSError), hold_lock(path / _LOCK, wait=False) as held:
        return not held
    return False


def build_local_url(url: str) -> str:
    """Return the address of a server for a browser of its own machine."""
    parts = urlsplit(url)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(parts.hostname or "")  # noqa: S104 - compared
    return f"http://{host}:{parts.port}" if host else url


TICKET_S = 120
_BYTES = 32
_NAME = re.compile(r"[\w-]{43}", re.ASCII)


def create_pass(folder: Path, kind: str) -> str:
    """Create the file of a ticket or of a session, and return its name."""
    name = secrets.token_urlsafe(_BYTES)
    (folder / f"{kind}.{name}").touch(0o600, exist_ok=False)
    return name


class Sessions:
    """The sessions of the server with this private folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, ticket: str) -> str | None:
        """Return the value of a new session; None for a ticket that is used, old or not ours."""
        if not _NAME.fullmatch(ticket):
            return None
        path = self._folder / f"ticket.{ticket}"
        try:
            made = path.stat().st_mtime
            path.unlink()
        except FileNotFoundError:
            return None
        return create_pass(self._folder, "session") if time.time() - made < TICKET_S else None

    def admits(self, cookies: str, port: int) -> bool:
        """Return whether the header `Cookie` has a session of this server."""
        return any(path.exists() for path in self._list(cookies, port))

    def close(self, cookies: str, port: int) -> None:
        """End the session in the header `Cookie`."""
        for path in self._list(cookies, port):
            path.unlink(missing_ok=True)

    def _list(self, cookies: str, port: int) -> Iterator[Path]:
        """Yield the files of the sessions in a header; other programs may have set any others."""
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            if name == _name_cookie(port) and _NAME.fullmatch(value):
                yield self._folder / f"session.{value}"


def build_cookie(session: str, port: int) -> str:
    """Return the header `Set-Cookie`; an empty session deletes the cookie.

    The port is part of its name, because browsers share cookies between the ports of a machine.
    """
    end = "" if session else "; Max-Age=0"
    return f"{_name_cookie(port)}={session}; Path=/; HttpOnly; SameSite=Strict{end}"


def _name_cookie(port: int) -> str:
    return f"kebab-{port}"
