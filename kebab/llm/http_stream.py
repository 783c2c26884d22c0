"""Streams one HTTP response of a model server from a thread of its own.

Socket timeouts bound neither a name look-up nor a server that sends one byte now and then.
Therefore the caller waits with deadlines of its own, and closes the connection of the thread.
"""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from time import monotonic
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from kebab.errors.signal import Signal
from kebab.llm.http_client import Call, open_client, translate_http_errors

if TYPE_CHECKING:
    import httpx

MAX_LINE_BYTES = 8_000_000
THREAD_NAME = "kebab-http-stream"
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_MAX_QUEUED = 16
"""The most pieces that wait for the reader, each below 64 KiB."""
_POLL_S = 0.25
"""The longest single wait: a signal may reach another thread, so the wait ends to check for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """The limits for one response, in seconds; 0 means no limit.

    `first_token_s` limits the wait for the first token and each silence after it.
    """

    connect_s: float
    first_token_s: float
    total_s: float


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The status and the content type of a response, and the target of a redirect."""

    status: int
    content_type: str
    location: str = ""


@dataclass(frozen=True, slots=True)
class _Deadline:
    """One running deadline; without an operation it is the one for connecting."""

    since: float
    limit_s: float
    operation: str = ""

    @property
    def due(self) -> float:
        return self.since + self.limit_s if self.limit_s else float("inf")


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
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        self._call = call
        self._path = path
        self._content = body
        self._headers = {"Content-Type": "application/json", **headers}
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
        client = open_client(self._call, connect_s=connect_s, silence_s=0)
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
            yield piece

    def _next_item(self) -> ResponseHead | bytes | None:
        """Return the next item of the thread, or raise its exception.

        An item that arrived before a deadline counts, however late it is read.
        """
        while True:
            deadline = min(self._iter_deadlines(), key=lambda deadline: deadline.due)
            wait = min(max(deadline.due - monotonic(), 0), _POLL_S)
            try:
                arrived, item = self._queue.get(timeout=wait)
            except Empty:
                arrived, item = monotonic(), b""
            if arrived > deadline.due:
                raise self._build_late_signal(deadline)
            if isinstance(item, BaseException):
                raise item
            if item != b"":
                return item

    def _iter_deadlines(self) -> Iterator[_Deadline]:
        if not self._connection.established:
            yield _Deadline(self.started, self._deadlines.connect_s)
        limit_s = self._deadlines.first_token_s
        if self._last_token:
            yield _Deadline(self._last_token, limit_s, "next_token")
        else:
            yield _Deadline(self.started, limit_s, "first_token")
        yield _Deadline(self.started, self._deadlines.total_s, "answer")

    def _build_late_signal(self, deadline: _Deadline) -> Signal:
        if not deadline.operation:
            return self._call.build_unreachable("connecting took too long")
        return self._call.build_timeout(
            deadline.operation, since=deadline.since, limit_s=deadline.limit_s
        )

    def _run(self, client: "httpx.Client") -> None:
        """Send the request and queue the response; only this runs in the thread."""
        try:
            with client:
                self._receive(client)
        except BaseException as failure:  # noqa: BLE001 - raised again where the caller waits
            self._put(failure)
        else:
            self._put(None)

    def _receive(self, client: "httpx.Client") -> None:
        with contextlib.ExitStack() as stack:
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
                # Raw bytes: the request allows no compression, and a decoder could be flooded.
                for piece in response.iter_raw():
                    self._put(piece)

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
