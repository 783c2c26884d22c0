"""Checks host, origin, size and bearer token of a request before anything else reads it.

uvicorn limits heads, connections and idle time; this adds the limits of a body.

A web page can make a browser send requests to this machine. Its own name may even be resolved to
the address of this machine (DNS rebinding), so the `Host` header decides, not the address.
"""

import asyncio
import hmac
import os
import secrets
import stat
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from kebab.errors.catalog import IoError, TimedOut, TooLarge, Unauthorized, UsageInvalid
from kebab.errors.signal import Signal
from kebab.errors.system import translate_os_errors
from kebab.llm.endpoint import read_address
from kebab.platform import hold_lock, is_private, replace_file

TOKEN_NAME = "http.token"  # noqa: S105 - the name of the file
_LOCK_NAME = "http.token.lock"
_TOKEN_BYTES = 32
_MIN_CHARS = 16
_MAX_BYTES = 4_096


def load_token(state: Path) -> str:
    """Return the token in the state directory; create it when there is none.

    A token that other users could read is replaced.

    Raises:
        IoError: The file cannot be read or written, or does not contain a token.
    """
    path = state / TOKEN_NAME
    token = _read_private(path)
    if token is None:
        _create(path)
        token = _read_private(path) or ""
    if len(token) < _MIN_CHARS or not (token.isascii() and token.isprintable()) or " " in token:
        cause = f"it is not a token of at least {_MIN_CHARS} ASCII characters"
        raise IoError(path=str(path), op="read", cause=cause)
    return token


def is_authorized(header: str | None, token: str) -> bool:
    """Return whether an `Authorization` header has the token; the time tells nothing about it."""
    scheme, _, given = (header or "").strip().partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    return same and scheme.lower() == "bearer"


def _read_private(path: Path) -> str | None:
    """Return the token; None when there is none that only its owner can read."""
    with translate_os_errors(path, "read"):
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            private = is_private(status)
            if not stat.S_ISREG(status.st_mode):
                raise IoError(path=str(path), op="read", cause="it is not a regular file")
            raw = opened.read(_MAX_BYTES) if private else b""
    return raw.decode("latin-1").strip() if private else None


def _create(path: Path) -> None:
    """Write a new token under its name in one step, unless another process was first."""
    with translate_os_errors(path, "create"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with hold_lock(path.parent / _LOCK_NAME):
            if _read_private(path) is not None:
                return
            with replace_file(path) as draft:
                draft.write(f"{secrets.token_urlsafe(_TOKEN_BYTES)}\n".encode())


Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

MOST_REQUEST_BYTES = 1 << 20
"""The limit of a body that holds no file; decoding a larger one would hold up other requests."""
BODY_S = 30.0
"""How long a body may take to arrive."""
_FORBIDDEN, _TIMEOUT = 403, 408
_CLOSE = {"Connection": "close"}
_OWN_SITE = "same-origin"
"""What browsers say in `Sec-Fetch-Site` of a request that a page of this server began."""


class Refusal(Exception):  # noqa: N818 - it carries a signal
    """A signal with an HTTP status and headers that its row does not have."""

    def __init__(
        self, signal: Signal, status: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(str(signal))
        self.signal = signal
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Guard:
    """The outermost layer of the server; `refuse` turns an exception into a response.

    A `Host` header names this machine or the `host` that the server is bound to; where that is any
    address, it may be every IP address, because a page cannot take the name of one. `open_paths`
    need no token. Only `large_paths` take a body of `max_body_bytes`. `admits` says whether a
    header `Cookie` replaces the token.
    """

    app: AsgiApp
    refuse: Callable[[Scope, Exception], Awaitable[AsgiApp]]
    token: str
    host: str
    max_body_bytes: int
    open_paths: Collection[str]
    large_paths: Collection[str] = ()
    admits: Callable[[Scope, str], bool] = lambda *_: False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False
        scope["app"] = self  # so the router raises what it does not find

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, self._limit_body(scope, receive), send_and_note)
        except Exception as fault:  # every request gets an answer, once
            if started:
                raise
            response = await self.refuse(scope, fault)
            await response(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Raise a `Refusal` for a request that is not let in."""
        host = _get_header(scope, "host")
        name, bound = _read_host_name(host or ""), read_address(self.host)
        is_address = bound is not None and bound.is_unspecified and read_address(name) is not None
        if name not in {*LOOPBACK_NAMES, self.host.lower()} and not is_address:
            cause = f"the host is not this server: {(host or 'none')[:255]}"
            raise Refusal(UsageInvalid(option="Host", cause=cause), _FORBIDDEN)
        origin, site = _get_header(scope, "origin"), _get_header(scope, "sec-fetch-site")
        is_own = origin is not None and origin.lower() == f"{scope['scheme']}://{host}".lower()
        # A form of a page without a referrer has no origin, and no page can set `site`.
        is_own = is_own or (origin in {None, "null"} and site == _OWN_SITE)
        if origin is not None and not is_own:
            cause = f"requests of other web pages are refused: {origin[:255]}"
            raise Refusal(UsageInvalid(option="Origin", cause=cause), _FORBIDDEN)
        if (
            scope["path"] not in self.open_paths
            and not is_authorized(_get_header(scope, "authorization"), self.token)
            and not self._has_session(scope, site, is_own=is_own)
        ):
            raise Refusal(Unauthorized(), headers={"WWW-Authenticate": 'Bearer realm="kebab"'})
        length = _get_header(scope, "content-length")
        if length is not None and _get_header(scope, "transfer-encoding") is not None:
            cause = "a body has a length or a transfer coding, not both"
            raise Refusal(UsageInvalid(option="Content-Length", cause=cause), headers=_CLOSE)
        if length is not None and length.isdecimal():
            self._check_size(scope, int(length))

    def _has_session(self, scope: Scope, site: str | None, *, is_own: bool) -> bool:
        """Return whether the request comes from the page of a browser that is let in.

        A browser sends cookies with requests of any other port of this machine too, so a request
        that another page began has no session, and what changes something must say its origin.
        """
        reads = scope["method"] in {"GET", "HEAD"}
        if not (is_own or (reads and site in {None, "none"})):
            return False
        cookies = [value for key, value in scope["headers"] if key.lower() == b"cookie"]
        return self.admits(scope, b"; ".join(cookies).decode("latin-1"))

    def _limit_body(self, scope: Scope, receive: Receive) -> Receive:
        """Return a function that receives a body of limited size, in limited time."""
        size, is_complete = 0, False
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + BODY_S

        async def receive_and_count() -> Message:
            nonlocal size, is_complete
            try:
                async with asyncio.timeout_at(None if is_complete else ends_at):
                    message = await receive()
            except TimeoutError:
                limit_ms = round(BODY_S * 1000)
                late = TimedOut(operation="request body", elapsed_ms=limit_ms, deadline_ms=limit_ms)
                raise Refusal(late, _TIMEOUT, _CLOSE) from None
            size += len(message.get("body", b""))
            is_complete = not message.get("more_body")
            self._check_size(scope, size)
            return message

        return receive_and_count

    def _check_size(self, scope: Scope, size: int) -> None:
        limit = self.max_body_bytes
        if scope["path"] not in self.large_paths:
            limit = min(limit, MOST_REQUEST_BYTES)
        if size > limit:
            # The rest of the body is not read, so the connection cannot be used again.
            signal = TooLarge(what="request body", size=size, limit=limit)
            raise Refusal(signal, headers=_CLOSE)


def _get_header(scope: Scope, name: str) -> str | None:
    """Return the value of a header, None without it; a repeated one is refused."""
    found = [value for key, value in scope["headers"] if key.lower() == name.encode()]
    if len(found) > 1:
        raise Refusal(UsageInvalid(option=name.title(), cause="the header is repeated"))
    return found[0].decode("latin-1") if found else None


def _read_host_name(host: str) -> str:
    """Return the name in a `Host` header, without the port and the brackets of an address."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    plain = not (parts.path or parts.query or parts.fragment or parts.username)
    return (parts.hostname or "").rstrip(".") if plain else ""
