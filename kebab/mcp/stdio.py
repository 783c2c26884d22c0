"""Serves one client over standard input and output, and answers its first messages at once.

The import of the SDK takes most of a second.

One thread reads all messages. Until the SDK is imported it answers the first ones itself; from then
on it hands everything to the session of the SDK, which gets the messages from before as well, so
that its state is complete. An answer is equal to the one that the SDK gives later, which tests hold
for each version of the protocol; responses of the SDK to what is already answered are dropped.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from kebab import __version__

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

NAME = "kebab"
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that begin with `initialize`, the oldest first."""
STATELESS_VERSION = "2026-07-28"
"""The version in which every request describes its client."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"

LIST_TTL_MS = 300_000
"""How long a client may keep the list of tools and the instructions."""

_TEXT_CLIENTS = ("claude-code", "codex", "visual studio code")
"""Clients that show their model the structured result instead of the text, as its JSON.

Their issue trackers describe it: anthropics/claude-code #79944, #55677, microsoft/vscode #290063;
anomalyco/opencode #32074 says it of Codex."""

_CAPABILITIES = {
    "completions": {},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}

Message = Mapping[str, Any]


class ListTools(Protocol):
    """Returns the entries of `tools/list`."""

    def __call__(self, *, structured: bool) -> list[dict[str, Any]]:
        """Return them with or without the schemas of structured results."""
        ...


def hides_text(client: str | None) -> bool:
    """Return whether a client shows its model no text beside a structured result."""
    return (client or "").lower().startswith(_TEXT_CLIENTS)


def describe_server() -> dict[str, str]:
    """Return the name and the version of this server."""
    return {"name": NAME, "version": __version__}


@dataclass
class Handshake:
    """Answers `initialize`, `server/discover`, `tools/list` and `ping`.

    Args:
        instructions: What the client tells its model about this server.
        list_tools: Returns the entries of `tools/list`, with or without structured results.
        text_only: Whether no client gets structured results.
    """

    instructions: str
    list_tools: ListTools
    text_only: bool = False
    _client: str | None = None
    _version: str | None = None

    def answer(self, message: Message) -> dict[str, Any] | None:
        """Return the response to a request; None when the SDK has to answer it."""
        params = message.get("params", {})
        number = message.get("id")
        if message.get("jsonrpc") != "2.0" or not isinstance(params, dict):
            return None
        if not isinstance(number, int | str) or isinstance(number, bool):
            return None
        result = self._find_result(str(message.get("method")), params)
        return None if result is None else {"jsonrpc": "2.0", "id": number, "result": result}

    def _find_result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        meta = params.get("_meta", {})
        if isinstance(meta, dict) and VERSION_KEY in meta:
            return self._answer_stateless(method, params, meta)
        if method == "initialize":
            return self._initialize(params)
        if method == "ping":
            return {}
        if method == "tools/list" and self._version is not None and params.keys() <= {"_meta"}:
            return {"tools": self._list_tools(self._client)}
        return None

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of `initialize` for well-formed parameters of a first call."""
        wanted, client = params.get("protocolVersion"), _read_name(params.get("clientInfo"))
        fitting = isinstance(wanted, str) and _are_capabilities(params.get("capabilities"))
        if self._version is not None or client is None or not fitting:
            return None
        self._version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        self._client = client
        return {
            "protocolVersion": self._version,
            "capabilities": _CAPABILITIES,
            "serverInfo": describe_server(),
            "instructions": self.instructions,
        }

    def _answer_stateless(
        self, method: str, params: dict[str, Any], meta: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the result for a client of the version without a handshake."""
        client = _read_name(meta.get(CLIENT_KEY))
        known = meta[VERSION_KEY] == STATELESS_VERSION
        complete = known and _are_capabilities(meta.get(CAPABILITIES_KEY))
        if not complete or client is None or len(params) > 1:
            return None
        cached = {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}
        envelope = {"resultType": "complete", "_meta": {_SERVER_KEY: describe_server()}}
        if method == "server/discover":
            return {
                "supportedVersions": [STATELESS_VERSION],
                "capabilities": _CAPABILITIES,
                "instructions": self.instructions,
                **cached,
                **envelope,
            }
        if method == "tools/list":
            return {"tools": self._list_tools(client), **cached, **envelope}
        return None

    def _list_tools(self, client: str | None) -> list[dict[str, Any]]:
        return self.list_tools(structured=not (self.text_only or hides_text(client)))


def _read_name(client: object) -> str | None:
    """Return the name of a client that describes itself as the protocol asks, else None."""
    if not isinstance(client, dict) or not isinstance(client.get("version"), str):
        return None
    return client["name"] if isinstance(client.get("name"), str) else None


def _are_capabilities(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())


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
