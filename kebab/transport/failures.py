"""What can go wrong in HTTP: the one table from httpx's exceptions to signals.

It reads only the class and the chain of causes of an exception, never httpx's wording.
"""

import functools
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeAlias

from kebab.errors.catalog import ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.transport.endpoint import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One exchange with the server, as its failure needs to name it."""

    endpoint: Endpoint
    operation: str
    deadline_s: float
    started: float = field(default_factory=monotonic)

    def unreachable(self, cause: str) -> ModelUnreachable:
        """Return the signal for a server that cannot be talked to."""
        return ModelUnreachable(endpoint=self.endpoint.shown, operation=self.operation, cause=cause)

    def late(self) -> TimedOut:
        """Return the signal for an answer that did not come in time."""
        return TimedOut(
            operation=self.operation,
            elapsed_ms=round((monotonic() - self.started) * 1000),
            deadline_ms=round(self.deadline_s * 1000),
        )


_Translation: TypeAlias = Callable[[Call, Exception], Signal]


def _unreachable(cause: str) -> _Translation:
    return lambda call, _failure: call.unreachable(cause)


def _late(call: Call, _failure: Exception) -> Signal:
    return call.late()


def _unconnected(call: Call, failure: Exception) -> Signal:
    return call.unreachable(_reason(failure) or "no connection")


def _cut(call: Call, failure: Exception) -> Signal:
    return call.unreachable(_reason(failure) or "the connection was cut")


@functools.cache
def translations() -> dict[type[Exception], _Translation]:
    """Return the table; each exception that httpx can raise at a sound caller has its own row."""
    import httpx

    return {
        httpx.ConnectError: _unconnected,
        httpx.ConnectTimeout: _unreachable("connecting took too long"),
        httpx.PoolTimeout: _late,
        httpx.ReadTimeout: _late,
        httpx.WriteTimeout: _late,
        httpx.TimeoutException: _late,
        httpx.ReadError: _cut,
        httpx.WriteError: _cut,
        httpx.CloseError: _cut,
        httpx.NetworkError: _cut,
        httpx.RemoteProtocolError: _unreachable("the answer is cut short or is not HTTP"),
        httpx.LocalProtocolError: _unreachable("the request is not HTTP"),
        httpx.ProtocolError: _unreachable("the answer is not HTTP"),
        httpx.ProxyError: _unreachable("the proxy failed"),
        httpx.UnsupportedProtocol: _unreachable("only http and https are spoken"),
        httpx.InvalidURL: _unreachable("the address is not a URL"),
        httpx.DecodingError: _unreachable("the answer cannot be decoded"),
        httpx.TooManyRedirects: _unreachable("the server redirects without end"),
        httpx.HTTPStatusError: _unreachable("the server refused"),
        httpx.TransportError: _cut,
        httpx.RequestError: _cut,
        httpx.HTTPError: _cut,
    }


@functools.cache
def misuse() -> frozenset[type[Exception]]:
    """Return what httpx raises at a caller who holds it wrong: bugs, which stay themselves."""
    import httpx

    return frozenset(
        {
            httpx.StreamError,
            httpx.StreamConsumed,
            httpx.StreamClosed,
            httpx.ResponseNotRead,
            httpx.RequestNotRead,
            httpx.CookieConflict,
        }
    )


@contextmanager
def translated(call: Call) -> Iterator[None]:
    """Turn what httpx raises into signals.

    Raises:
        ModelUnreachable: There is no connection, or it was cut.
        TimedOut: The answer did not come in time.
    """
    table = translations()
    try:
        yield
    except tuple(table) as failure:
        raise table[_nearest(type(failure))](call, failure) from failure


def _nearest(raised: type[BaseException]) -> type[Exception]:
    table = translations()
    return next(known for known in raised.__mro__ if known in table)


def _reason(failure: BaseException) -> str | None:
    """Return the system's word for it: the first `OSError` in the chain of causes."""
    link: BaseException | None = failure
    while link is not None:
        if isinstance(link, socket.gaierror):
            return "the host name is not known"
        if isinstance(link, OSError):
            return (link.strerror or str(link)).lower()
        link = link.__cause__ or link.__context__
    return None
