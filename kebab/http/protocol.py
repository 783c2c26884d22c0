"""Reads HTTP/1.1 from a connection: strict framing, limits of size, and deadlines.

`kebab/http/server.py` gives `Protocol` to uvicorn. h11 parses, but it accepts what other programs
read differently, so a request is refused before that when its head can be read in two ways. Every
refusal is `error.v1` and ends the connection.
"""

import asyncio
import re
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from kebab.errors.catalog import ServerBusy, TimedOut, TooLarge, UsageInvalid
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.http.application import HEADERS, JSON, SERVER
from kebab.http.guard import Refusal
from kebab.http.service import build_failure

with translate_import_errors("the HTTP server", "uvicorn", extra="serve"):
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

MOST_HEAD_BYTES = 16_384
MOST_HEADERS = 100
MOST_TARGET_BYTES = 8_192
MOST_CONNECTIONS = 256
"""How many connections may be open; a further one replaces the oldest that waits for a request."""

HEAD_S = 10.0
"""How long the head of a request may take from its first byte, or from the connection."""
BODY_S = 30.0
"""How long the body may take."""
LINGER_S = 2.0
"""How long a body is still read that the answer did not wait for."""
WRITE_S = 30.0
"""A client that takes less than `WRITE_BYTES` of an answer in this time is disconnected."""
WRITE_BYTES = 32_768


_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0")
_HEAD_END = re.compile(rb"\n\r?\n")
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_ONCE = (
    b"authorization",
    b"content-length",
    b"content-type",
    b"host",
    b"origin",
    b"transfer-encoding",
)


def check_head(data: bytes) -> None:
    """Raise a `Refusal` for the head of a request that is too large, or read differently by others.

    The head may be incomplete.
    """
    end = _HEAD_END.search(data)
    size = end.start() if end else len(data)
    if size > MOST_HEAD_BYTES:
        raise _refuse_size("request headers", size, MOST_HEAD_BYTES, 431)
    if end is None:
        return
    first, *lines = data[: end.end()].removesuffix(b"\r\n\r\n").split(b"\r\n")
    if any(_CONTROLS.search(line) for line in (first, *lines)):
        raise _refuse("request", "a control character in the headers")
    if any(line.startswith((b" ", b"\t")) for line in lines):
        raise _refuse("request", "a header that continues on a second line")
    if len(lines) > MOST_HEADERS:
        raise _refuse_size("number of headers", len(lines), MOST_HEADERS, 431)
    target, _, version = first.partition(b" ")[2].rpartition(b" ")
    if len(target) > MOST_TARGET_BYTES:
        raise _refuse_size("path", len(target), MOST_TARGET_BYTES, 414)
    if version not in _VERSIONS:
        raise _refuse("request", "not a valid HTTP/1.1 request")
    if not target.startswith(b"/"):
        raise _refuse("path", "the target of the request is not a path")
    _check_framing([line.partition(b":")[::2] for line in lines], version)


def _check_framing(headers: list[tuple[bytes, bytes]], version: bytes) -> None:
    """Refuse headers that leave open where the body ends, or what decides."""
    counts = Counter(name.lower() for name, _ in headers)
    values = {name.lower(): value.strip() for name, value in headers}
    for name in _ONCE:
        if counts[name] > 1:
            raise _refuse(name.decode().title(), "the header is repeated")
    length, coding = values.get(b"content-length"), values.get(b"transfer-encoding")
    if length is not None and not length.isdigit():
        raise _refuse("Content-Length", "not a number")
    if coding is None:
        return
    if length is not None:
        raise _refuse("Content-Length", "a body has a length or a transfer coding, not both")
    if coding.lower() != b"chunked" or version != b"HTTP/1.1":
        raise _refuse("Transfer-Encoding", "only `chunked` of HTTP/1.1 is read")


def _refuse(option: str, cause: str) -> Refusal:
    return Refusal(UsageInvalid(option=option, cause=cause))


def _refuse_size(what: str, size: int, limit: int, status: int) -> Refusal:
    return Refusal(TooLarge(what=what, size=size, limit=limit), status)


class _Connection(h11.Connection):
    """The parser of h11 behind the checks of a head; `refusal` is what they raised."""

    refusal: Refusal | None = None

    def next_event(self) -> Any:
        if self.their_state is h11.IDLE:
            try:
                check_head(self.trailing_data[0])
            except Refusal as refusal:
                self.refusal = refusal
                raise h11.RemoteProtocolError(str(refusal)) from refusal
        return super().next_event()


class Protocol(H11Protocol):
    """One connection. It is always in one of these states, and each but work has a deadline.

    It waits for a request, reads its head, reads its body, works, or sends. uvicorn's timer ends
    connections that wait for a further request.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._parser = self.conn = _Connection(h11.SERVER, MOST_HEAD_BYTES)
        self.since = self.loop.time()
        """When the connection began to wait for a request."""
        self._timer: asyncio.TimerHandle | None = None
        self._timed = ""
        self._sender: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; make room for this connection where there are too many."""
        super().connection_made(transport)
        self._set_deadline("head", HEAD_S)
        if len(self.connections) <= MOST_CONNECTIONS:
            return
        others = [one for one in self.connections if isinstance(one, Protocol) and one is not self]
        waiting = [one for one in others if one.is_waiting]
        if waiting:
            oldest = min(waiting, key=lambda one: one.since)
            self.connections.discard(oldest)
            oldest.transport.abort()
        else:
            self._refuse(Refusal(ServerBusy(waiting=len(others))))

    @property
    def is_waiting(self) -> bool:
        """Whether no request of this connection is being answered."""
        return self._answer is None or self._answer.response_complete

    @property
    def _answer(self) -> "RequestResponseCycle | None":
        """The answer to the last request; None before the first."""
        return self.cycle

    def handle_events(self) -> None:
        """Parse what was received, and set the deadline of what is missing."""
        super().handle_events()
        self._choose_deadline()

    def on_response_complete(self) -> None:
        """Continue with the next request, and watch that the answer is taken."""
        super().on_response_complete()
        self.since = self.loop.time()
        self._choose_deadline()
        self._watch_sending()

    def pause_writing(self) -> None:
        """Hold the answer back while the client does not read, and watch that it does."""
        super().pause_writing()
        self._watch_sending()

    def resume_writing(self) -> None:
        """Continue with the answer; a stream may grow again, so its rest is not compared."""
        super().resume_writing()
        if self._sender is not None:
            self._sender.cancel()
            self._sender = None
        if self.is_waiting:
            self._watch_sending()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the timers."""
        for timer in (self._timer, self._sender):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser refuses."""
        del msg
        unread = _refuse("request", "not a valid HTTP/1.1 request")
        self._refuse(self._parser.refusal or unread)

    def _choose_deadline(self) -> None:
        """Set the deadline of the part of a request that is missing."""
        if self.transport.is_closing():
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._set_deadline(*(("rest", LINGER_S) if self.is_waiting else ("body", BODY_S)))
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._set_deadline("head", HEAD_S)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer, self._timed = None, ""

    def _set_deadline(self, part: str, limit_s: float) -> None:
        """Set a deadline unless that of the same part already runs."""
        if self._timed == part:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timed = part
        self._timer = self.loop.call_later(limit_s, self._end_late, part, limit_s)

    def _end_late(self, part: str, limit_s: float) -> None:
        """End a connection whose request did not arrive in time."""
        self._timer, self._timed = None, ""
        if self._answer is None and not self.conn.trailing_data[0]:
            self.transport.close()  # nothing was asked
        else:
            limit_ms = round(limit_s * 1000)
            late = TimedOut(operation=f"request {part}", elapsed_ms=limit_ms, deadline_ms=limit_ms)
            self._refuse(Refusal(late, 408))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer with an error unless an answer has begun, and end the connection."""
        answer = self._answer
        begun = answer and answer.response_started and self.conn.our_state is not h11.IDLE
        if not self.transport.is_closing() and not begun:
            self.transport.write(format_refusal(refusal.signal, refusal.status))
        if answer and not answer.response_complete:
            answer.disconnected = True
            answer.message_event.set()
        self.transport.close()
        self._watch_sending()

    def _watch_sending(self) -> None:
        if self._sender is None and (size := self.transport.get_write_buffer_size()):
            self._sender = self.loop.call_later(WRITE_S, self._check_sending, size)

    def _check_sending(self, before: int) -> None:
        """Disconnect a client that has not taken enough of the answer since the last check."""
        self._sender = None
        size = self.transport.get_write_buffer_size()
        if size > before - WRITE_BYTES and size:
            self.transport.abort()
        else:
            self._watch_sending()


def format_refusal(signal: Signal, status: int | None) -> bytes:
    """Return the bytes of an answer to a request that does not reach the application."""
    outcome = build_failure(SERVER, signal, None, status)
    size = {"Content-Length": len(outcome.body)}
    headers = {"Content-Type": JSON, **size, **HEADERS, "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {outcome.status} {HTTPStatus(outcome.status).phrase}\r\n{lines}\r\n"
    return head.encode() + outcome.body
