"""Tickets that let a browser in once, and the sessions of the browsers that are in.

Each is an empty file with an unguessable name in the private folder of a running server. So only
who can write there can make a ticket, all processes of the server see it, and the token of the
server is never sent. A ticket counts once, for two minutes; a session lasts as long as the server
runs.
"""

import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from kebab.errors.system import translate_os_errors

TICKET_S = 120
_BYTES = 32
_NAME = re.compile(r"[\w-]{43}", re.ASCII)


def make_ticket(folder: Path) -> str:
    """Return a ticket for the server with this private folder.

    Raises:
        IoError: It cannot be written.
    """
    with translate_os_errors(folder, "create"):
        return _create(folder, "ticket")


def _create(folder: Path, kind: str) -> str:
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
        return _create(self._folder, "session") if time.time() - made < TICKET_S else None

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
