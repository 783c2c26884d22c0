"""Tickets that let a browser in once, and the sessions of the browsers that are in.

A ticket is signed with the token of the server, so whoever can read its file can make one, and the
token itself is never sent. It names the server that it is for, and counts once, for two minutes.
A session is a random value in a cookie. Sessions are in memory: a server that starts has none.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from threading import Lock

TICKET_S = 120
_MOST_SESSIONS = 64
"""How many browsers may be in; the one that came first has to sign in again."""
_BYTES = 32


def make_ticket(token: str, instance: str, now: float | None = None) -> str:
    """Return a ticket for the server with this token and instance."""
    expires = int((time.time() if now is None else now) + TICKET_S)
    nonce = secrets.token_urlsafe(_BYTES)
    return f"{expires}.{nonce}.{_sign(token, instance, f'{expires}.{nonce}')}"


def _sign(token: str, instance: str, text: str) -> str:
    return hmac.new(token.encode(), f"ticket {instance} {text}".encode(), "sha256").hexdigest()


class Sessions:
    """The sessions of one server.

    Args:
        token: The token of the server.
        clock: Returns the present time in seconds.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self.instance = secrets.token_urlsafe(_BYTES)
        """The name of this run of the server, which its tickets are for."""
        self._token = token
        self._clock = clock
        self._used: dict[str, int] = {}
        self._sessions: list[str] = []
        self._lock = Lock()

    def make_ticket(self) -> str:
        """Return a ticket for this server."""
        return make_ticket(self._token, self.instance, self._clock())

    def open(self, ticket: str) -> str | None:
        """Return the value of a new session; None for a ticket that is used, old or not ours."""
        text, _, signature = ticket.rpartition(".")
        expires, _, nonce = text.partition(".")
        expected = _sign(self._token, self.instance, text)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            return None
        with self._lock:
            now = self._clock()
            self._used = {name: end for name, end in self._used.items() if end >= now}
            if int(expires) < now or nonce in self._used:
                return None
            self._used[nonce] = int(expires)
            session = secrets.token_urlsafe(_BYTES)
            self._sessions = [*self._sessions, session][-_MOST_SESSIONS:]
        return session

    def admits(self, cookies: str, port: int) -> bool:
        """Return whether the header `Cookie` has a session of this server."""
        return any(
            hmac.compare_digest(given.encode(), one.encode())
            for given in _read_cookies(cookies, port)
            for one in self._sessions
        )

    def close(self, cookies: str, port: int) -> None:
        """End the session in the header `Cookie`."""
        given = _read_cookies(cookies, port)
        with self._lock:
            self._sessions = [one for one in self._sessions if one not in given]


def build_cookie(session: str, port: int) -> str:
    """Return the header `Set-Cookie`; an empty session deletes the cookie.

    The port is part of its name, because browsers share cookies between the ports of a machine.
    """
    end = "" if session else "; Max-Age=0"
    return f"{_name_cookie(port)}={session}; Path=/; HttpOnly; SameSite=Strict{end}"


def _name_cookie(port: int) -> str:
    return f"kebab-{port}"


def _read_cookies(header: str, port: int) -> list[str]:
    """Return the values of our cookie in a header; other programs may have set any others."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return [value for name, _, value in pairs if name == _name_cookie(port)]
