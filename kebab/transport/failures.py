"""What can go wrong in HTTP: the one table from httpx's exceptions to signals.

It reads only the class and the chain of causes of an exception, never httpx's wording.
"""

import functools
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeAlias

from kebab.errors.catalog import ModelProtocol, ModelUnreachable, TimedOut
from kebab.errors.dependency import needed
from kebab.errors.signal import Signal
from kebab.transport.endpoint import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One exchange with the server, as its failure needs to name it.

    `deadline_s` is the limit for the whole of it, where one limit is all there is.
    """

    endpoint: Endpoint
    operation: str
    deadline_s: float = 0.0
    started: float = field(default_factory=monotonic)

    def unreachable(self, cause: str) -> ModelUnreachable:
        """Return the signal for a server that cannot be talked to."""
        return ModelUnreachable(endpoint=self.endpoint.shown, operation=self.operation, cause=cause)

    def foreign(self, cause: str) -> ModelProtocol:
        """Return the signal for an answer that is not what a model server says."""
        return ModelProtocol(endpoint=self.endpoint.shown, operation=self.operation, cause=cause)

    def late(
        self, operation: str = "", *, since: float | None = None, limit_s: float | None = None
    ) -> TimedOut:
        """Return the signal for an answer, or a part of it, that did not come in time."""
        begun = self.started if since is None else since
        return TimedOut(
            operation=operation or self.operation,
            elapsed_ms=round((monotonic() - begun) * 1000),
            deadline_ms=round((self.deadline_s if limit_s is None else limit_s) * 1000),
        )


_Translation: TypeAlias = Callable[[Call, Exception], Signal]


def _unreachable(cause: str) -> _Translation:
    return lambda call, _failure: call.unreachable(cause)


def _foreign(cause: str) -> _Translation:
    return lambda call, _failure: call.foreign(cause)


def _late(call: Call, _failure: Exception) -> Signal:
    return call.late()


def _unconnected(call: Call, failure: Exception) -> Signal:
    return call.unreachable(_reason(failure) or "no connection")


def _cut(call: Call, failure: Exception) -> Signal:
    return call.unreachable(_reason(failure) or "the connection was cut")


@functools.cache
def translations() -> dict[type[Exception], _Translation]:
    """Return the table; each exception that httpx can raise at a sound caller has its own row."""
    with needed("a model server", "httpx"):
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
        httpx.RemoteProtocolError: _unreachable("the answer is cut short"),
        httpx.LocalProtocolError: _unreachable("the request is not HTTP"),
        httpx.ProtocolError: _foreign("the answer is not HTTP"),
        httpx.ProxyError: _unreachable("the proxy failed"),
        httpx.UnsupportedProtocol: _unreachable("only http and https are spoken"),
        httpx.InvalidURL: _unreachable("the address is not a URL"),
        httpx.DecodingError: _foreign("the answer cannot be decoded"),
        httpx.TooManyRedirects: _foreign("the server redirects without end"),
        httpx.HTTPStatusError: _foreign("the server refused"),
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
def translated(call: Call, *, greeted: bool = True) -> Iterator[None]:
    """Turn what httpx raises into signals.

    Args:
        call: What the signals name.
        greeted: Whether the server is known to speak HTTP; before that, what is no HTTP comes
            from another program, and after it from a connection that was cut.

    Raises:
        ModelUnreachable: There is no connection, or it was cut.
        ModelProtocol: The answer is not HTTP, or makes no sense as such.
        TimedOut: The answer did not come in time.
    """
    table = translations()
    try:
        yield
    except tuple(table) as failure:
        if not greeted and _is_no_http(failure):
            raise call.foreign("the answer is not HTTP") from failure
        raise table[_nearest(type(failure))](call, failure) from failure
    except UnicodeError as failure:
        # The resolver and the headers refuse some letters before httpx looks at them.
        raise call.unreachable("the host name or a header cannot be sent") from failure


def _is_no_http(failure: BaseException) -> bool:
    """Return whether the parser of HTTP refused what came; that nothing came it does not."""
    import httpx

    parsers = {type(link).__module__.partition(".")[0] for link in _chain(failure)}
    return isinstance(failure, httpx.RemoteProtocolError) and "h11" in parsers


def _nearest(raised: type[BaseException]) -> type[Exception]:
    table = translations()
    return next(known for known in raised.__mro__ if known in table)


def _reason(failure: BaseException) -> str | None:
    """Return the system's word for it: the first `OSError` in the chain of causes."""
    for link in _chain(failure):
        if isinstance(link, socket.gaierror):
            return "the host name is not known"
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"the certificate is not trusted: {link.verify_message}"
        if isinstance(link, ssl.SSLError):
            return "no secure connection can be made"
        if isinstance(link, OSError):
            return (link.strerror or str(link)).lower()
    return None


def _chain(failure: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what caused it."""
    link: BaseException | None = failure
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
