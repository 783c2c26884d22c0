"""Serves one client over standard input and output.

One thread reads all messages. Until the SDK is imported it answers the first ones itself; from then
on it hands everything to the session of the SDK, which gets the messages from before as well, so
that its state is complete. Responses of the SDK to what is already answered are dropped.
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from kebab.mcp.handshake import Handshake

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

_PARSE_ERROR = -32700
_LAST_WRITE_S = 1.0
"""The longest time to write the last message to a client that has closed its side."""

Write = Callable[[bytes], None]
"""Writes one line; safe to call from several threads."""


class MessageReader:
    """Reads lines in a thread of its own, and answers the first ones.

    Args:
        source: The standard input.
        write: Writes a line to the standard output.
        handshake: Answers messages until `connect` is called.
    """

    def __init__(self, source: BinaryIO, write: Write, handshake: Handshake) -> None:
        self._source = source
        self._write = write
        self._handshake = handshake
        self._lock = threading.Lock()
        self._waiting: list[bytes | None] = []
        self._deliver: Callable[[bytes | None], None] | None = None
        self._answered: set[int | str] = set()
        self._thread = threading.Thread(target=self._read, name="mcp-reader", daemon=True)

    def start(self) -> None:
        """Begin to read; the thread does not keep the process alive."""
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the input."""
        self._thread.join(timeout_s)

    def connect(self, deliver: Callable[[bytes | None], None]) -> None:
        """Deliver the lines read so far and all further ones, then None at the end."""
        with self._lock:
            for line in self._waiting:
                deliver(line)
            self._waiting.clear()
            self._deliver = deliver

    def take_answered(self, number: object) -> bool:
        """Return whether the request with this id is answered already; True only once."""
        if not isinstance(number, int | str) or number not in self._answered:
            return False
        self._answered.discard(number)
        return True

    def _read(self) -> None:
        try:
            for line in self._source:
                if line.strip():
                    self._receive(line)
        except (OSError, ValueError):
            pass  # the descriptor was closed, which ends the input
        self._receive(None)

    def _receive(self, line: bytes | None) -> None:
        with self._lock:
            if self._deliver is not None:
                self._deliver(line)
                return
            self._waiting.append(line)
            response = self._answer(line)
        if response is not None:
            try:
                self._write(encode_line(response))
            except OSError:
                self._receive(None)

    def _answer(self, line: bytes | None) -> dict[str, Any] | None:
        if line is None:
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict):
            return None
        response = self._handshake.answer(message)
        if response is not None:
            self._answered.add(response["id"])
        return response


def encode_line(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _refuse_line(line: bytes, write: Write) -> None:
    """Answer a line that is no message, so that no client waits for it."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    number = message.get("id") if isinstance(message, dict) else None
    known = number if isinstance(number, int | str) else None
    error = {"code": _PARSE_ERROR, "message": "not a valid message of JSON-RPC in UTF-8"}
    with suppress(OSError):
        write(encode_line({"jsonrpc": "2.0", "id": known, "error": error}))


def serve_stdio(server: "Server[Any]", reader: MessageReader, write: Write) -> None:
    """Serve the client of a reader until its input ends, or nobody reads the output."""
    import anyio

    anyio.run(_serve, server, reader, write)


async def _serve(server: "Server[Any]", reader: MessageReader, write: Write) -> None:
    import asyncio

    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    outgoing, written = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()

    def feed(line: bytes | None) -> None:
        if line is None:
            send.close()
            return
        try:
            send.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_json(line)))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the session has ended
        except Exception:  # noqa: BLE001 - the session drops what is no message, unanswered
            threading.Thread(target=_refuse_line, args=(line, write), daemon=True).start()

    def deliver(line: bytes | None) -> None:
        # A client that no longer reads may go on writing after the session has ended.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(feed, line)

    reader.connect(deliver)
    async with send, receive, outgoing, anyio.create_task_group() as tasks:
        tasks.start_soon(_write_messages, written, reader, write, tasks.cancel_scope)
        await server.run(receive, outgoing, server.create_initialization_options())
        tasks.cancel_scope.deadline = anyio.current_time() + _LAST_WRITE_S


async def _write_messages(messages: Any, reader: MessageReader, write: Write, scope: Any) -> None:
    """Write messages one after another; a client that is gone ends the session."""
    import anyio.to_thread

    async with messages:
        async for one in messages:
            message: SessionMessage = one
            body = message.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
            if "method" not in body and reader.take_answered(body.get("id")):
                continue
            try:
                await anyio.to_thread.run_sync(write, encode_line(body), abandon_on_cancel=True)
            except OSError:
                scope.cancel()
                return
