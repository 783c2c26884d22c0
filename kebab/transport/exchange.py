"""One streamed POST to a model server, done in a thread of its own.

No timeout of a socket bounds a name look-up, nor a server that sends a byte now and then. So the
caller, who waits, holds the deadlines, and hangs up on the thread that talks.
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
from kebab.transport.client import open_client
from kebab.transport.failures import Call, translated

if TYPE_CHECKING:
    import httpx

LONGEST_LINE = 8_000_000
LONGEST_TOKEN = 128
"""The most characters of one token, a long run of blanks: an answer that is longer than its tokens
can be comes from a server that keeps to no limit, and may never end."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_AHEAD = 16
"""The most pieces that the server may be ahead of the reader, each below 64 KiB."""
_SLICE_S = 0.25
"""The longest single wait: a signal may reach another thread, and is looked for in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """What an answer may take, in seconds; 0 means no limit.

    `first_token_s` bounds the wait for the first token and each silence after it.
    """

    connect_s: float
    first_token_s: float
    total_s: float


@dataclass(frozen=True, slots=True)
class Head:
    """How an answer begins."""

    status: int
    content_type: str


@dataclass(frozen=True, slots=True)
class _Bound:
    """A deadline under way; without an operation it is the one for connecting."""

    since: float
    limit_s: float
    operation: str = ""

    @property
    def due(self) -> float:
        return self.since + self.limit_s if self.limit_s else float("inf")


_News: TypeAlias = Head | bytes | BaseException | None
"""What the thread that talks has to tell; None is the end of the answer."""


class Exchange:
    """A POST under way; leaving the block hangs up, whatever it was waiting for.

    Without a body it is a GET.
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
        self._sent = body
        self._headers = {"Content-Type": "application/json", **headers}
        self._deadlines = deadlines
        self._news: SimpleQueue[tuple[float, _News]] = SimpleQueue()
        self._line = _Line()
        self._head: Head | None = None
        self._started = self._heard = 0.0

    def __enter__(self) -> Self:
        """Begin to talk.

        Raises:
            ModelUnreachable: The proxy or the certificates of the environment cannot be used.
        """
        connect_s = self._deadlines.connect_s
        client = open_client(self._call, connect_s=connect_s, silence_s=0)
        self._started = monotonic()
        talk = Thread(target=self._run, args=(client,), name="kebab-exchange", daemon=True)
        with contextlib.ExitStack() as undo:
            undo.callback(self._line.hang_up)
            talk.start()
            undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._line.hang_up()

    @property
    def head(self) -> Head:
        """How the answer begins; waits for it.

        Raises:
            ModelUnreachable: There is no connection, or it was cut.
            ModelProtocol: What answers does not speak HTTP.
            TimedOut: A deadline passed.
        """
        return self._begin() if self._head is None else self._head

    def lines(self) -> Iterator[bytes]:
        """Yield each line as soon as it is complete, without its end; the last may lack one.

        Raises:
            ModelUnreachable: There is no connection, or it was cut.
            ModelProtocol: A line is too long, or what answers does not speak HTTP.
            TimedOut: A deadline passed.
        """
        line = bytearray()
        for piece in self._pieces():
            first, *others = piece.split(b"\n")
            line += first
            for other in others:
                yield bytes(line.removesuffix(b"\r"))
                line = bytearray(other)
            if len(line) > LONGEST_LINE:
                raise self._call.foreign(f"a line is longer than {LONGEST_LINE} bytes")
        if line:
            yield bytes(line)

    def body(self, limit: int = 1_000_000) -> bytes:
        """Return the body, cut to its first `limit` bytes.

        Raises:
            ModelUnreachable: There is no connection, or it was cut.
            ModelProtocol: What answers does not speak HTTP.
            TimedOut: A deadline passed.
        """
        body = bytearray()
        for piece in self._pieces():
            body += piece
            if len(body) >= limit:
                break
        return bytes(body[:limit])

    def token(self) -> None:
        """Note that a token came: the limit for silence counts from here."""
        self._heard = monotonic()

    def _begin(self) -> Head:
        head = self._next()
        assert isinstance(head, Head)
        self._head = head
        return head

    def _pieces(self) -> Iterator[bytes]:
        if self._head is None:
            self._begin()
        while isinstance(piece := self._next(), bytes):
            yield piece

    def _next(self) -> Head | bytes | None:
        """Return what the thread that talks tells next.

        What arrived before a deadline counts, however late it is looked at.
        """
        while True:
            bound = min(self._bounds(), key=lambda one: one.due)
            wait = min(max(bound.due - monotonic(), 0), _SLICE_S)
            try:
                arrived, news = self._news.get(timeout=wait)
            except Empty:
                arrived, news = monotonic(), b""
            if arrived > bound.due:
                raise self._late(bound)
            if isinstance(news, BaseException):
                raise news
            if news != b"":
                return news

    def _bounds(self) -> Iterator[_Bound]:
        if not self._line.connected:
            yield _Bound(self._started, self._deadlines.connect_s)
        limit_s = self._deadlines.first_token_s
        if self._heard:
            yield _Bound(self._heard, limit_s, "next_token")
        else:
            yield _Bound(self._started, limit_s, "first_token")
        yield _Bound(self._started, self._deadlines.total_s, "answer")

    def _late(self, bound: _Bound) -> Signal:
        if not bound.operation:
            return self._call.unreachable("connecting took too long")
        return self._call.late(bound.operation, since=bound.since, limit_s=bound.limit_s)

    def _run(self, client: "httpx.Client") -> None:
        """Talk, and tell of it; this is all that happens in the other thread."""
        try:
            with client:
                self._talk(client)
        except BaseException as failure:  # noqa: BLE001 - raised again where the caller waits
            self._tell(failure)
        else:
            self._tell(None)

    def _talk(self, client: "httpx.Client") -> None:
        with contextlib.ExitStack() as answer:
            with translated(self._call, greeted=False):
                response = answer.enter_context(
                    client.stream(
                        "GET" if self._sent is None else "POST",
                        self._call.endpoint.url(self._path),
                        content=self._sent,
                        headers=self._headers,
                        extensions={"trace": self._line.watch},
                    )
                )
            kind = response.headers.get("Content-Type", "")
            self._tell(Head(response.status_code, kind))
            with translated(self._call):
                # As it was sent: what is compressed, which nobody asked for, may be a bomb.
                for piece in response.iter_raw():
                    self._tell(piece)

    def _tell(self, news: _News) -> None:
        arrived = monotonic()
        while self._news.qsize() > _AHEAD and not self._line.cut.wait(0.01):
            pass
        self._news.put((arrived, news))


class _Line:
    """The connection as the one who waits sees it: whether it stands, and how to end it.

    Closing a socket does not wake who reads from it, but shutting it down does. The duplicate is
    ours alone: the one that talks may close its own, or wrap it in TLS, at any moment.
    """

    def __init__(self) -> None:
        self.connected = False
        self.cut = Event()
        self._lock = Lock()
        self._socket: socket.socket | None = None

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a step of httpx; the headers are sent when the connection stands."""
        if event.endswith("connect_tcp.complete"):
            self._hold(info["return_value"].get_extra_info("socket").dup())
        elif event.endswith("send_request_headers.started"):
            self.connected = True

    def hang_up(self) -> None:
        """End the connection, also one that is only being made."""
        self.cut.set()
        with self._lock:
            self._shut()

    def _hold(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
            if self.cut.is_set():
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError), self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)
