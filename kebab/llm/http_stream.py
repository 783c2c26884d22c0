"""Streams a response of a model server by HTTP, and turns the exceptions of httpx into signals.

Socket timeouts bound neither a name look-up nor a server that sends one byte now and then.
Therefore a thread receives the response. The caller waits with deadlines of its own, and closes
the connection of the thread. Exceptions are told by their class and the chain of their causes,
never by the text of httpx.
"""

import contextlib
import functools
import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from msgspec import Struct, field

from kebab.errors.catalog import ModelProtocol, ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.llm.endpoint import Endpoint, find_proxy_variable
from kebab.platform import skip_httpx_command_line

if TYPE_CHECKING:
    import httpx

ServerFault: TypeAlias = Literal["proxy", "certificate", "silent", "server"]
"""What keeps a model server from answering, where it is not the connection itself; may grow."""

_LIMITS = {
    "first_token": "models.llm.first_token_s",
    "next_token": "models.llm.first_token_s",
    "answer": "models.llm.total_s",
}
"""The setting with the limit of each part of a response."""
MAX_LINE_BYTES = 8_000_000
_GZIP = b"\x1f\x8b"
"""What compressed data begins with, and neither JSON nor UTF-8 has anywhere."""
THREAD_NAME = "kebab-http-stream"
_MAX_QUEUED = 16
"""The most pieces that wait for the reader, each below 64 KiB."""
_POLL_S = 0.25
"""The longest single wait: a signal may reach another thread, so the wait ends to check for it."""


class Deadlines(Struct, frozen=True, kw_only=True):
    """The limits for one response, in seconds; 0 means no limit.

    `first_token_s` limits the wait for the first token and each silence after it.
    """

    connect_s: float
    first_token_s: float
    total_s: float


class ResponseHead(Struct, frozen=True):
    """The status and the content type of a response, and the target of a redirect."""

    status: int
    content_type: str
    location: str = ""

    @property
    def is_html(self) -> bool:
        """Whether the response is an HTML page."""
        return "html" in self.content_type.lower()


class Call(Struct, frozen=True, kw_only=True):
    """One call of the server, with the facts that its errors report.

    `deadline_s` is the limit for the whole call, where there is only one limit; `model` is empty
    when the call is about none.
    """

    endpoint: Endpoint
    operation: str
    model: str = ""
    deadline_s: float = 0.0
    started: float = field(default_factory=monotonic)

    def build_unreachable(
        self, cause: str, reason: ServerFault | None = None, setting: str | None = None
    ) -> ModelUnreachable:
        """Return the signal for a server that cannot be reached, or that failed."""
        return ModelUnreachable(
            endpoint=self.endpoint.display_url,
            operation=self.operation,
            cause=cause,
            provider=self.endpoint.provider,
            setting=setting or self.endpoint.setting,
            reason=reason,
            model=self.model or None,
        )

    def build_protocol_error(self, cause: str, setting: str | None = None) -> ModelProtocol:
        """Return the signal for an unexpected response; `setting` decides about a wrong address."""
        url = self.endpoint.display_url
        return ModelProtocol(endpoint=url, operation=self.operation, cause=cause, setting=setting)

    def build_timeout(
        self, operation: str = "", *, since: float | None = None, limit_s: float | None = None
    ) -> TimedOut:
        """Return the signal for a response, or a part of it, that is too late."""
        started = self.started if since is None else since
        operation = operation or self.operation
        return TimedOut(
            operation=operation,
            elapsed_ms=round((monotonic() - started) * 1000),
            deadline_ms=round((self.deadline_s if limit_s is None else limit_s) * 1000),
            setting=_LIMITS.get(operation),
            endpoint=self.endpoint.display_url,
        )


_Item: TypeAlias = ResponseHead | bytes | BaseException | None
"""What the thread puts into the queue; None is the end of the response."""


class HttpStream:
    """A request and its streamed response; leaving the block closes the connection.

    The request is a POST with a body, and a GET without one. Every wait for the response may raise
    `ModelUnreachable` (no connection, or it was cut), `ModelProtocol` (not HTTP) or `TimedOut`.
    """

    def __init__(
        self,
        call: Call,
        path: str,
        body: bytes | None,
        deadlines: Deadlines,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._call = call
        self._path = path
        self._content = body
        self._headers = {
            "Content-Type": "application/json",
            **call.endpoint.key.headers,
            **(headers or {}),
        }
        self._deadlines = deadlines
        self._queue: SimpleQueue[tuple[float, _Item]] = SimpleQueue()
        self._connection = _Connection()
        self._head: ResponseHead | None = None
        self._last_token = 0.0
        self.started = 0.0

    def __enter__(self) -> Self:
        """Start the thread that sends the request.

        Raises:
            ModelUnreachable: The proxy or the certificates of the environment cannot be used.
        """
        connect_s = self._deadlines.connect_s
        client = open_client(self._call, connect_s=connect_s)
        self.started = monotonic()
        thread = Thread(target=self._run, args=(client,), name=THREAD_NAME, daemon=True)
        with contextlib.ExitStack() as undo:
            undo.callback(self._connection.close)
            thread.start()
            undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    @property
    def head(self) -> ResponseHead:
        """The head of the response; waits for it."""
        if self._head is None:
            head = self._next_item()
            assert isinstance(head, ResponseHead)
            self._head = head
        return self._head

    def iter_lines(self) -> Iterator[bytes]:
        """Yield each line without its end as soon as it is complete; the last may lack an end.

        Raises:
            ModelProtocol: A line is too long.
        """
        line = bytearray()
        for piece in self._iter_pieces():
            first, *others = piece.split(b"\n")
            line += first
            for other in others:
                yield bytes(line.removesuffix(b"\r"))
                line = bytearray(other)
            if len(line) > MAX_LINE_BYTES:
                cause = f"a line is longer than {MAX_LINE_BYTES} bytes"
                raise self._call.build_protocol_error(cause)
        if line:
            yield bytes(line)

    def read_body(self, limit: int = 1_000_000) -> bytes:
        """Return the body, cut to its first `limit` bytes."""
        body = bytearray()
        for piece in self._iter_pieces():
            body += piece
            if len(body) >= limit:
                break
        return bytes(body[:limit])

    def record_token(self) -> None:
        """Record that a token came; the limit for silence starts again."""
        self._last_token = monotonic()

    def _iter_pieces(self) -> Iterator[bytes]:
        _ = self.head
        while isinstance(piece := self._next_item(), bytes):
            if piece.startswith(_GZIP):
                raise self._call.build_protocol_error("the response is compressed")
            yield piece

    def _next_item(self) -> ResponseHead | bytes | None:
        """Return the next item of the thread, or raise its exception.

        An item that arrived before a deadline counts, however late it is read.
        """
        while True:
            due, operation, since, limit_s = min(self._list_deadlines(), key=itemgetter(0))
            wait = min(max(due - monotonic(), 0), _POLL_S)
            try:
                arrived, item = self._queue.get(timeout=wait)
            except Empty:
                arrived, item = monotonic(), b""
            if arrived > due and not operation:
                raise self._call.build_unreachable("connecting took too long")
            if arrived > due:
                raise self._call.build_timeout(operation, since=since, limit_s=limit_s)
            if isinstance(item, BaseException):
                raise item
            if item != b"":
                return item

    def _list_deadlines(self) -> list[tuple[float, str, float, float]]:
        """Return when each deadline is due, its operation (none for connecting), start and limit.

        A limit of 0 is never due.
        """
        limits, start = self._deadlines, self.started
        running = [("", start, limits.connect_s)] if not self._connection.established else []
        if self._last_token:
            running.append(("next_token", self._last_token, limits.first_token_s))
        else:
            running.append(("first_token", start, limits.first_token_s))
        running.append(("answer", start, limits.total_s))
        return [
            (since + limit_s if limit_s else float("inf"), operation, since, limit_s)
            for operation, since, limit_s in running
        ]

    def _run(self, client: "httpx.Client") -> None:
        """Send the request and queue the response; only this runs in the thread."""
        try:
            with client, contextlib.ExitStack() as stack:
                with translate_http_errors(self._call, responded=False):
                    response = stack.enter_context(
                        client.stream(
                            "GET" if self._content is None else "POST",
                            self._call.endpoint.build_url(self._path),
                            content=self._content,
                            headers=self._headers,
                            extensions={"trace": self._connection.trace},
                        )
                    )
                found = (response.headers.get(name, "") for name in ("Content-Type", "Location"))
                self._put(ResponseHead(response.status_code, *found))
                with translate_http_errors(self._call):
                    # Raw bytes: the request allows no compression, a decoder could be flooded.
                    for piece in response.iter_raw():
                        self._put(piece)
        except BaseException as failure:  # noqa: BLE001 - raised again where the caller waits
            self._put(failure)
        else:
            self._put(None)

    def _put(self, item: _Item) -> None:
        arrived = monotonic()
        while self._queue.qsize() > _MAX_QUEUED and not self._connection.closed.wait(0.01):
            pass
        self._queue.put((arrived, item))


class _Connection:
    """The connection of the thread, as the caller sees it.

    Closing a socket does not wake its reader, but shutting it down does. The class holds a
    duplicate of the socket, because the thread may close its own or wrap it in TLS at any moment.
    """

    def __init__(self) -> None:
        self.established = False
        self.closed = Event()
        self._lock = Lock()
        self._socket: socket.socket | None = None

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record a step of httpx; it sends headers when the connection is established."""
        if event.endswith("connect_tcp.complete"):
            duplicate = info["return_value"].get_extra_info("socket").dup()
            with self._lock:
                self._socket = duplicate
                if self.closed.is_set():
                    self._shut_down()
        elif event.endswith("send_request_headers.started"):
            self.established = True

    def close(self) -> None:
        """End the connection, also one that is not established yet."""
        self.closed.set()
        with self._lock:
            self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError), self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)


def open_client(call: Call, *, connect_s: float) -> "httpx.Client":
    """Return an HTTP client for the server of a call.

    It uses no proxy for this machine and follows no redirect. The limit for connecting is
    in seconds, and 0 means none; reads and writes have none here.

    Raises:
        ModelUnreachable: The proxy or the certificates of the environment cannot be used.
        DependencyMissing: httpx cannot be loaded.
    """
    skip_httpx_command_line()
    with translate_import_errors("a model server", "httpx"):
        import httpx

    # httpx logs whole addresses, including the password of a login.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    loopback = call.endpoint.is_loopback
    verify: bool | ssl.SSLContext = True
    try:
        if loopback and call.endpoint.scheme == "http":
            # Loading certificates for plain HTTP would waste time.
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        elif loopback:
            # A TLS server on this machine has a certificate from this machine.
            verify = ssl.create_default_context()
        return httpx.Client(
            timeout=httpx.Timeout(None, connect=connect_s or None),
            # A server that compresses holds tokens back until it has a block of them.
            headers={"Accept-Encoding": "identity"},
            trust_env=not loopback,
            verify=verify,
        )
    except OSError as failure:
        cause = "the certificates of the environment cannot be read"
        raise call.build_unreachable(cause) from failure
    except (ImportError, ValueError, httpx.InvalidURL) as failure:
        cause = "the proxy of the environment cannot be used"
        variable = find_proxy_variable(call.endpoint)
        raise call.build_unreachable(cause, "proxy" if variable else None, variable) from failure


_NO_TLS_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""The reasons of OpenSSL for an answer that is not TLS."""
LOGIN_REQUIRED = 407
"""The HTTP status of a proxy that requires a login."""

_Report: TypeAlias = Callable[[Call, Exception], Signal]


@contextlib.contextmanager
def translate_http_errors(call: Call, *, responded: bool = True) -> Iterator[None]:
    """Turn the exceptions of httpx into signals.

    Args:
        call: The call that the signals report.
        responded: Whether the server has sent valid HTTP. Before that, invalid HTTP comes from
            another program; after it, from a connection that was cut.

    Raises:
        ModelUnreachable: There is no connection, or it was cut.
        ModelProtocol: The response is not valid HTTP.
        TimedOut: The response did not come in time.
    """
    table = load_error_table()
    try:
        yield
    except tuple(table) as failure:
        import httpx

        # The HTTP parser rejects what another program sends; an empty response does not count.
        parsers = {type(link).__module__.partition(".")[0] for link in _iter_causes(failure)}
        if not responded and isinstance(failure, httpx.RemoteProtocolError) and "h11" in parsers:
            cause = "the response is not HTTP"
            raise call.build_protocol_error(cause, call.endpoint.setting) from failure
        kind = next(kind for kind in type(failure).__mro__ if kind in table)
        raise table[kind](call, failure) from failure
    except UnicodeError as failure:
        # The resolver and the headers reject some characters before httpx checks them.
        raise call.build_unreachable("the host name or a header cannot be sent") from failure


@functools.cache
def load_error_table() -> dict[type[Exception], _Report]:
    """Return a row for each exception of httpx at a correct caller, or for one of its bases."""
    with translate_import_errors("a model server", "httpx"):
        import httpx

    def report(build: Callable[..., Signal], *parts: str) -> _Report:
        return lambda call, _failure: build(call, *parts)

    def report_lost_connection(call: Call, failure: Exception) -> Signal:
        cause = _describe_os_error(failure) or "the connection was cut"
        return call.build_unreachable(cause, "server")

    return {
        httpx.ConnectError: _report_no_connection("no connection"),
        httpx.ConnectTimeout: _report_no_connection("connecting took too long"),
        httpx.TimeoutException: report(Call.build_timeout),
        httpx.RemoteProtocolError: report(
            Call.build_unreachable, "the response is incomplete", "server"
        ),
        httpx.LocalProtocolError: report(Call.build_unreachable, "the request is not HTTP"),
        httpx.ProtocolError: report(Call.build_protocol_error, "the response is not HTTP"),
        httpx.ProxyError: _report_proxy_refusal,
        httpx.UnsupportedProtocol: report(
            Call.build_unreachable, "only http and https are supported"
        ),
        httpx.InvalidURL: report(Call.build_unreachable, "the address is not a URL"),
        httpx.HTTPError: report_lost_connection,
    }


def _report_no_connection(cause: str) -> _Report:
    """Report the error of the operating system, or `cause` where there is none.

    A connection that is not made may be the one to the proxy of the environment.
    """

    def report(call: Call, failure: Exception) -> Signal:
        for link in _iter_causes(failure):
            if isinstance(link, ssl.SSLCertVerificationError):
                untrusted = f"the certificate is not trusted: {link.verify_message.rstrip('.')}"
                return call.build_unreachable(untrusted, "certificate")
        variable = find_proxy_variable(call.endpoint)
        described = _describe_os_error(failure) or cause
        return call.build_unreachable(described, "proxy" if variable else None, variable)

    return report


def _report_proxy_refusal(call: Call, failure: Exception) -> Signal:
    """Report a proxy that opens no tunnel; the text of the exception begins with its status."""
    status = str(failure)[:3]
    cause = describe_proxy_refusal(int(status) if status.isdecimal() else 0)
    return call.build_unreachable(cause, "proxy", find_proxy_variable(call.endpoint))


def describe_proxy_refusal(status: int) -> str:
    """Return why a proxy does not pass on a request; status 0 means unknown."""
    cause = "the proxy requires a login" if status == LOGIN_REQUIRED else "the proxy refused"
    return f"{cause} (HTTP {status})" if status else cause


def _describe_os_error(failure: BaseException) -> str | None:
    for link in _iter_causes(failure):
        if isinstance(link, socket.gaierror):
            return "the host name is not known"
        if isinstance(link, ssl.SSLError):
            plain = getattr(link, "reason", None) in _NO_TLS_REASONS
            return "the server speaks no TLS" if plain else "no secure connection can be made"
        if isinstance(link, OSError) and not isinstance(link, TimeoutError):
            return (link.strerror or str(link)).lower()
    return None


def _iter_causes(failure: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = failure
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
