"""Checks every request before anything else reads it: host, origin, token and size.

A web page can make a browser send requests to this machine. Its own name may even be resolved to
the address of this machine (DNS rebinding), so the `Host` header decides, not the address.
"""

import ipaddress
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from kebab.errors.catalog import TooLarge, Unauthorized, UsageInvalid
from kebab.errors.signal import Signal
from kebab.http.token import is_authorized

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_FORBIDDEN = 403


class Refusal(Exception):  # noqa: N818 - it carries a signal
    """A signal with an HTTP status and headers that its row does not have."""

    def __init__(
        self, signal: Signal, status: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(str(signal))
        self.signal = signal
        self.status = status
        self.headers = headers or {}


class Admission(NamedTuple):
    """Which requests are let in.

    `hosts` are the names that a `Host` header may have; with `any_address` every IP address too,
    because a page cannot take the name of one. `open_paths` need no token.
    """

    token: str
    hosts: Collection[str]
    any_address: bool
    max_body_bytes: int
    open_paths: Collection[str]


def build_hosts(host: str) -> tuple[frozenset[str], bool]:
    """Return the names and whether any address is one, for a server that is bound to a host."""
    try:
        unspecified = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        unspecified = False
    return LOOPBACK_NAMES | {host.lower()}, unspecified


class Guard:
    """The outermost layer of the server; `refuse` turns an exception into a response."""

    def __init__(
        self,
        app: AsgiApp,
        admission: Admission,
        refuse: Callable[[Scope, Exception], Awaitable[AsgiApp]],
    ) -> None:
        self._app = app
        self._admission = admission
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
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
            await self._app(scope, self._limit_body(receive), send_and_note)
        except Exception as fault:  # every request gets an answer, once
            if started:
                raise
            response = await self._refuse(scope, fault)
            await response(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Raise a `Refusal` for a request that is not let in."""
        headers = _Headers(scope["headers"])
        host = headers.get_one("host")
        if not self._is_known(host):
            cause = f"the host is not this server: {host or 'none'}"
            raise Refusal(UsageInvalid(option="Host", cause=cause), _FORBIDDEN)
        origin = headers.get_one("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{host}".lower():
            cause = f"requests of other web pages are refused: {origin}"
            raise Refusal(UsageInvalid(option="Origin", cause=cause), _FORBIDDEN)
        if scope["path"] not in self._admission.open_paths and not is_authorized(
            headers.get_one("authorization"), self._admission.token
        ):
            raise Refusal(Unauthorized(), headers={"WWW-Authenticate": 'Bearer realm="kebab"'})
        length = headers.get_one("content-length") or "0"
        if length.isdecimal():
            self._check_size(int(length))

    def _is_known(self, host: str | None) -> bool:
        name = _read_host_name(host or "")
        if name in self._admission.hosts:
            return True
        return self._admission.any_address and _is_address(name)

    def _limit_body(self, receive: Receive) -> Receive:
        size = 0

        async def receive_and_count() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self._check_size(size)
            return message

        return receive_and_count

    def _check_size(self, size: int) -> None:
        limit = self._admission.max_body_bytes
        if size > limit:
            # The rest of the body is not read, so the connection cannot be used again.
            signal = TooLarge(what="request body", size=size, limit=limit)
            raise Refusal(signal, headers={"Connection": "close"})


class _Headers:
    """The headers of a request; those that decide may be given once only."""

    def __init__(self, raw: Collection[tuple[bytes, bytes]]) -> None:
        self._raw = raw

    def get_one(self, name: str) -> str | None:
        """Return the value of a header, None without it; a repeated one is refused."""
        found = [value for key, value in self._raw if key.lower() == name.encode()]
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


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
