"""Answers the requests of MCP clients, for every version of the protocol.

`stdio.py` and `http.py` read messages, decide in which thread a request is answered, and send what
`Protocol.answer` returns. A client of `HANDSHAKE_VERSIONS` begins with `initialize`; in
`STATELESS_VERSION` every request describes its client in an envelope, the field `_meta`. Tests
compare the answers with those of the official SDK.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from kebab import __version__
from kebab.app.classify import HEADER
from kebab.app.dispatch import report_failure
from kebab.core.progress import Cancel
from kebab.mcp.calls import Report, RequestError, Resources, ToolCaller
from kebab.wire.record import encode_json

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that begin with `initialize`, the oldest first."""
STATELESS_VERSION = "2026-07-28"
"""The version in which every request describes its client."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
_INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

_LIST_TTL_MS = 300_000
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
_SERVER = {"name": "kebab", "version": __version__}


def hides_text(client: str | None) -> bool:
    """Return whether a client shows its model no text beside a structured result."""
    return (client or "").lower().startswith(_TEXT_CLIENTS)


class Message(Struct):
    """A message of JSON-RPC; a request has an `id` and a `method`, a response no method."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | None = None
    result: Any = UNSET
    error: Any = UNSET

    def read_meta(self) -> Mapping[str, Any]:
        """Return what the message says about itself."""
        meta = (self.params or {}).get("_meta")
        return meta if isinstance(meta, dict) else {}


_decoder = msgspec.json.Decoder(Message)


def decode_message(raw: bytes) -> Message:
    """Return a message.

    Raises:
        RequestError: It is none; a batch is none either.
    """
    try:
        message = _decoder.decode(raw)
    except msgspec.ValidationError as fault:
        raise RequestError(f"not a message of JSON-RPC: {fault}", code=INVALID_REQUEST) from fault
    except (ValueError, RecursionError) as fault:
        raise RequestError("not JSON in UTF-8", code=PARSE_ERROR) from fault
    if message.method is UNSET and (message.id is UNSET or message.result is message.error):
        raise RequestError("not a message of JSON-RPC: no method", code=INVALID_REQUEST)
    return message


def build_error(number: object, fault: RequestError) -> dict[str, Any]:
    """Return the response to a request that failed."""
    error = {"code": fault.code, "message": str(fault)}
    if fault.data is not None:
        error["data"] = fault.data
    return {"jsonrpc": "2.0", "id": number, "error": error}


class _Client(Struct):
    name: str
    version: str


class _Meta(Struct):
    client: _Client | None = field(name=CLIENT_KEY, default=None)
    capabilities: dict[str, dict[str, Any] | None] = field(
        name=CAPABILITIES_KEY, default_factory=dict
    )
    progressToken: int | str | None = None  # noqa: N815 - a field of the protocol


class _Parameters(Struct):
    meta: _Meta = field(name="_meta", default_factory=_Meta)


class _Page(_Parameters):
    cursor: str | None = None


class _Hello(_Parameters, kw_only=True, rename="camel"):
    protocol_version: str
    client_info: _Client
    capabilities: dict[str, dict[str, Any] | None]


class _ToolCall(_Parameters, kw_only=True):
    name: str
    arguments: dict[str, Any] | None = None


class _Place(_Parameters, kw_only=True):
    uri: str


class _Prompt(Struct, tag_field="type", tag="ref/prompt"):
    name: str


class _Template(Struct, tag_field="type", tag="ref/resource"):
    uri: str


class _Argument(Struct):
    name: str
    value: str


class _Completion(_Parameters, kw_only=True):
    ref: _Prompt | _Template
    argument: _Argument


class Session(Struct):
    """What is known of one client; `client` is its name."""

    is_stateless: bool | None = None
    """Whether requests have an envelope; None lets the first request decide."""
    is_open: bool = False
    """Whether requests need no handshake."""
    client: str | None = None

    def admit(self, request: Message) -> None:
        """Let the first request decide which kind of protocol the client speaks."""
        if self.is_stateless is None:
            self.is_stateless = (
                request.method != "initialize" and VERSION_KEY in request.read_meta()
            )


class _Method(NamedTuple):
    """What a client can ask for.

    `is_stateless` is None for what every version has. A greeting needs no handshake before.
    `is_slow` tells that answering it reads the index.
    """

    parameters: type[_Parameters]
    is_stateless: bool | None = None
    is_greeting: bool = False
    is_slow: bool = False
    ttl_ms: int | None = None


_METHODS = {
    "initialize": _Method(_Hello, is_stateless=False, is_greeting=True),
    "ping": _Method(_Parameters, is_stateless=False, is_greeting=True),
    "server/discover": _Method(_Parameters, is_stateless=True, ttl_ms=_LIST_TTL_MS),
    "tools/list": _Method(_Page, ttl_ms=_LIST_TTL_MS),
    "tools/call": _Method(_ToolCall, is_slow=True),
    "resources/list": _Method(_Page, is_slow=True, ttl_ms=0),
    "resources/templates/list": _Method(_Page, ttl_ms=0),
    "resources/read": _Method(_Place, is_slow=True, ttl_ms=0),
    "completion/complete": _Method(_Completion, is_slow=True),
}


def is_slow(message: Message) -> bool:
    """Return whether answering a request reads the index."""
    method = _METHODS.get(str(message.method))
    return method is not None and method.is_slow


class Protocol:
    """Answers requests; threads may share it.

    Args:
        caller: Runs the tools.
        describe: Returns what clients tell their models about this server.
        text_only: Whether no client gets structured results.
    """

    def __init__(
        self, caller: ToolCaller, describe: Callable[[], str], *, text_only: bool = False
    ) -> None:
        self._caller = caller
        self._resources = Resources(caller)
        self._describe = describe
        self._text_only = text_only

    def answer(
        self,
        message: Message,
        session: Session,
        report: Report | None = None,
        cancel: Cancel | None = None,
    ) -> dict[str, Any]:
        """Return the response to a request that its session has admitted."""
        try:
            method = _find_method(message, session)
            result = self._find_result(message, method, session, report, cancel)
        except RequestError as fault:
            return build_error(message.id, fault)
        except Exception as fault:  # noqa: BLE001 - the edge of the request
            reply = report_failure("mcp", fault, self._caller.settings).reply
            data = msgspec.json.decode(encode_json(reply))
            return build_error(message.id, RequestError(reply.message, data, code=_INTERNAL_ERROR))
        if session.is_stateless:
            if method.ttl_ms is not None:
                result |= {"ttlMs": method.ttl_ms, "cacheScope": "private"}
            result |= {"resultType": "complete", "_meta": {_SERVER_KEY: _SERVER}}
        return {"jsonrpc": "2.0", "id": message.id, "result": result}

    def _find_result(
        self,
        message: Message,
        method: _Method,
        session: Session,
        report: Report | None,
        cancel: Cancel | None,
    ) -> dict[str, Any]:
        try:
            params: Any = msgspec.convert(message.params or {}, method.parameters)
        except (msgspec.ValidationError, RecursionError) as fault:
            raise RequestError(f"Invalid request parameters: {fault}") from fault
        if not (session.is_stateless or session.is_open or method.is_greeting):
            raise RequestError("Invalid request parameters: `initialize` comes first")
        named = params.meta.client if session.is_stateless else None
        client = named.name if named else session.client
        structured = not (self._text_only or hides_text(client))
        result: dict[str, Any] = {}
        match message.method:
            case "initialize":
                session.client, session.is_open = params.client_info.name, True
                known = params.protocol_version in HANDSHAKE_VERSIONS
                version = params.protocol_version if known else HANDSHAKE_VERSIONS[-1]
                result = {"protocolVersion": version, "serverInfo": _SERVER, **self._introduce()}
            case "server/discover":
                result = {"supportedVersions": [STATELESS_VERSION], **self._introduce()}
            case "tools/list":
                result = {"tools": self._caller.list_tools(structured=structured)}
            case "tools/call":
                result = {"isError": False} | self._caller.call(
                    params.name,
                    params.arguments or {},
                    structured=structured,
                    report=report,
                    cancel=cancel,
                    trace=message.read_meta().get(HEADER),
                )
            case "resources/list":
                result = self._resources.list(params.cursor)
            case "resources/templates/list":
                result = self._resources.list_templates()
            case "resources/read":
                result = self._resources.read(params.uri)
            case "completion/complete":
                typed = params.argument.value if params.argument.name == "path" else None
                result = self._resources.complete(typed)
            case _:
                pass  # the answer to `ping` is empty
        return result

    def _introduce(self) -> dict[str, Any]:
        return {"capabilities": _CAPABILITIES, "instructions": self._describe()}


def _find_method(message: Message, session: Session) -> _Method:
    """Return the method of a request that fits its session.

    Raises:
        RequestError: There is none, or the request belongs to another kind of session.
    """
    name = str(message.method)
    if session.is_stateless:
        if name == "initialize":
            asked = (message.params or {}).get("protocolVersion")
            raise refuse_version(asked, f"this connection speaks {STATELESS_VERSION}")
        check_envelope(message)
    elif name != "initialize" and VERSION_KEY in message.read_meta():
        cause = f"this connection began with a handshake, and takes none of {STATELESS_VERSION}"
        raise RequestError(cause, code=INVALID_REQUEST)
    method = _METHODS.get(name)
    if method is None or method.is_stateless not in (None, session.is_stateless):
        raise RequestError("Method not found", name, code=METHOD_NOT_FOUND)
    return method


def check_envelope(message: Message) -> None:
    """Check that a request describes its client.

    Raises:
        RequestError: It does not, or it speaks an unknown version.
    """
    meta = message.read_meta()
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RequestError(f"params._meta lacks what every request must have: {', '.join(missing)}")
    if not isinstance(meta[VERSION_KEY], str):
        raise RequestError(f"params._meta: not a string: {VERSION_KEY}")
    if meta[VERSION_KEY] != STATELESS_VERSION:
        raise refuse_version(meta[VERSION_KEY])


def refuse_version(asked: object, cause: str = "Unsupported protocol version") -> RequestError:
    """Return the error for a version of the protocol that the connection does not speak."""
    data = {"supported": [STATELESS_VERSION]} | (
        {"requested": asked} if isinstance(asked, str) else {}
    )
    return RequestError(cause, data, code=UNSUPPORTED_VERSION)
