"""Answers the first messages of a client without the SDK, whose import takes most of a second.

An answer is equal to the one that the SDK gives later, which tests hold for each version of the
protocol. A message that is not answered here waits for the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kebab import __version__

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
