"""Tickets that let a browser in once, and the sessions of the browsers that are in.

Both are signed with the token of the server, so whoever can read its file can make a ticket, and
the token itself is never sent. They name the run of the server that they are for. A ticket counts
once, for two minutes; a session lasts as long as the server runs. What was used or ended is noted
by an empty file, which all processes of the server see.
"""

import hmac
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

TICKET_S = 120
_BYTES = 32


def make_ticket(token: str, instance: str, now: float | None = None) -> str:
    """Return a ticket for the server with this token and instance."""
    expires = int((time.time() if now is None else now) + TICKET_S)
    return _sign(token, instance, f"ticket.{expires}.{secrets.token_urlsafe(_BYTES)}")


def _sign(token: str, instance: str, text: str) -> str:
    """Return a text with its signature."""
    signature = hmac.new(token.encode(), f"{instance} {text}".encode(), "sha256").hexdigest()
    return f"{text}.{signature}"


class Sessions:
    """The sessions of one server.

    Args:
        token: The token of the server.
        instance: The name of this run of the server.
        folder: The private folder of this run.
    """

    def __init__(self, token: str, instance: str, folder: Path) -> None:
        self._token = token
        self._instance = instance
        self._folder = folder

    def open(self, ticket: str) -> str | None:
        """Return the value of a new session; None for a ticket that is used, old or not ours."""
        kind, expires, nonce = self._read(ticket)
        if kind != "ticket" or int(expires) < time.time() or not self._spend(nonce):
            return None
        return _sign(self._token, self._instance, f"session.0.{secrets.token_urlsafe(_BYTES)}")

    def admits(self, cookies: str, port: int) -> bool:
        """Return whether the header `Cookie` has a session of this server."""
        return any(not (self._folder / nonce).exists() for nonce in self._list(cookies, port))

    def close(self, cookies: str, port: int) -> None:
        """End the session in the header `Cookie`."""
        for nonce in self._list(cookies, port):
            self._spend(nonce)

    def _list(self, cookies: str, port: int) -> Iterator[str]:
        """Yield the names of the sessions in a header; other programs may have set any others."""
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            kind, _, nonce = self._read(value)
            if name == _name_cookie(port) and kind == "session":
                yield nonce

    def _read(self, signed: str) -> tuple[str, str, str]:
        """Return the kind, the end and the name of what is signed; empty when it is not ours."""
        text = signed.rpartition(".")[0]
        parts = text.split(".")
        same = hmac.compare_digest(
            signed.encode(), _sign(self._token, self._instance, text).encode()
        )
        return (parts[0], parts[1], parts[2]) if same else ("", "", "")

    def _spend(self, nonce: str) -> bool:
        """Note that something was used; return False when it was before."""
        try:
            os.close(os.open(self._folder / nonce, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True


def build_cookie(session: str, port: int) -> str:
    """Return the header `Set-Cookie`; an empty session deletes the cookie.

    The port is part of its name, because browsers share cookies between the ports of a machine.
    """
    end = "" if session else "; Max-Age=0"
    return f"{_name_cookie(port)}={session}; Path=/; HttpOnly; SameSite=Strict{end}"


def _name_cookie(port: int) -> str:
    return f"kebab-{port}"
