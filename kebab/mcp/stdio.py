"""Serves one client over standard input and output.

One thread reads the messages and answers what needs no index. Calls run in threads of their own,
and the thread that serves writes all answers, so that a client may send without reading.
"""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO

import msgspec

from kebab.core.progress import Progress
from kebab.mcp.calls import Call, Report, RequestError, RunningCalls
from kebab.mcp.protocol import Message, Protocol, Session, build_error, decode_message, is_slow
from kebab.wire.ask import AnswerEvent

_PROGRESS_INTERVAL_S = 0.25
"""The least time between two notifications of progress."""

_STOP_S = 2.0
"""The longest wait for work to stop when the client has gone."""

Write = Callable[[bytes], object]
"""Writes one line."""


class StdioServer:
    """Serves one client until its input ends, or nobody reads the output.

    Args:
        protocol: Answers requests.
        source: The input.
        write: Writes a line to the output.
    """

    def __init__(self, protocol: Protocol, source: BinaryIO, write: Write) -> None:
        self._protocol = protocol
        self._source = source
        self._write = write
        self._session = Session()
        self._calls = RunningCalls()
        self._of_requests: dict[str, Call] = {}
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        # It does not keep the process alive: a client may leave its input open.
        self.reader = threading.Thread(target=self._read, name="mcp-reader", daemon=True)

    def serve(self) -> None:
        """Serve the client, and ask all work to stop at the end."""
        self.reader.start()
        try:
            self._write_lines()
            self._calls.stop(_STOP_S)
            self._lines.put(None)
            self._write_lines()
        except BrokenPipeError:
            pass  # the client is gone
        finally:
            self._calls.stop(_STOP_S)

    def _write_lines(self) -> None:
        while (line := self._lines.get()) is not None:
            self._write(line)

    def _read(self) -> None:
        try:
            # A descriptor that was closed ends the input.
            with suppress(OSError, ValueError):
                for line in self._source:
                    if line.strip():
                        self._receive(line)
        finally:
            self._lines.put(None)

    def _receive(self, line: bytes) -> None:
        try:
            message = decode_message(line)
        except RequestError as fault:
            self._send(build_error(_find_id(line), fault))
            return
        if message.id is msgspec.UNSET:
            if message.method == "notifications/cancelled":
                number = (message.params or {}).get("requestId")
                call = self._of_requests.pop(str(number), None)
                if call is not None:
                    self._calls.give_up(call)
            return
        if message.method is msgspec.UNSET:
            return  # a response, and the server asks nothing
        self._session.admit(message)
        if not is_slow(message):
            self._send(self._protocol.answer(message, self._session))
            return
        call = Call(partial(self._answer, message))
        # Clients have been seen to cancel the number 1 as "1".
        self._of_requests[str(message.id)] = call
        self._calls.start(call)

    def _answer(self, message: Message, call: Call) -> None:
        """Answer a request in this thread; one that was cancelled gets no answer."""
        token = message.read_meta().get("progressToken")
        report = ProgressReporter(self._send, token, call).report
        response = self._protocol.answer(message, self._session, report, call.cancel)
        if self._of_requests.get(str(message.id)) is call:
            self._of_requests.pop(str(message.id), None)
        if not call.is_given_up:
            self._send(response)

    def _send(self, message: dict[str, Any]) -> None:
        self._lines.put(msgspec.json.encode(message) + b"\n")


def _find_id(line: bytes) -> int | str | None:
    """Return the id of a line that is no message, so that no client waits for it."""
    try:
        message = json.loads(line)
        number = message.get("id") if isinstance(message, dict) else None
        msgspec.json.encode(number)  # fails for what no JSON can hold
    except (ValueError, RecursionError):
        return None
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


class ProgressReporter:
    """Sends events of an operation as notifications, from the thread that works.

    Their numbers always increase. Without a token nothing is sent.
    """

    def __init__(self, send: Report, token: int | str | None, call: Call) -> None:
        self._send = send
        self._token = token
        self._call = call
        self._count = 0
        self._next = 0.0

    def report(self, event: Progress | AnswerEvent) -> None:
        """Send an event, unless one was sent just before.

        Raises:
            KeyboardInterrupt: The request was cancelled, and the work takes no flag: an answer.
        """
        if self._call.cancel.requested:
            if isinstance(event, AnswerEvent):
                raise KeyboardInterrupt
            return
        self._count += 1
        now = time.monotonic()
        if self._token is None or now < self._next:
            return
        self._next = now + _PROGRESS_INTERVAL_S
        told = {
            "progressToken": self._token,
            "progress": float(self._count),
            "message": _describe(event),
        }
        self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})


def _describe(event: Progress | AnswerEvent) -> str:
    """Return what is being done, with its numbers."""
    if isinstance(event, AnswerEvent):
        return event.type.replace("_", " ")
    text = event.message or event.phase or event.kind
    if event.done is not None and event.total is not None:
        return f"{text} {event.done:,}/{event.total:,} {event.unit or ''}".strip()
    return text.replace("_", " ")
