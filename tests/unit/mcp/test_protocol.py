"""Requests get the answers that the server of the official SDK gives."""

import json
from contextlib import AsyncExitStack

import anyio
import pytest
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import ListToolsResult, jsonrpc_message_adapter

from kebab import __version__
from kebab.mcp.calls import RequestError
from kebab.mcp.protocol import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_VERSIONS,
    STATELESS_VERSION,
    VERSION_KEY,
    Protocol,
    Session,
    decode_message,
    hides_text,
)

CLIENT = {"name": "probe", "version": "1"}
HIDING = {"name": "claude-code", "version": "2.1", "title": "Claude Code"}
META = {VERSION_KEY: STATELESS_VERSION, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: {}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def build_call(number, method, params=None):
    call = {"jsonrpc": "2.0", "id": number, "method": method}
    return call if params is None else {**call, "params": params}


def initialize(version, client=CLIENT, capabilities=None):
    given = {"protocolVersion": version, "clientInfo": client, "capabilities": capabilities or {}}
    return build_call(0, "initialize", given)


@pytest.fixture
def ask_sdk(caller):
    """Return a function that gives messages to the server of the SDK; it returns the responses."""

    async def list_tools(context, params):
        client = context.session.client_params
        tools = caller.list_tools(structured=not hides_text(client.client_info.name))
        return ListToolsResult.model_validate({"tools": tools})

    async def refuse(context, params):
        raise NotImplementedError

    def ask(messages):
        hint = CacheHint(300_000, "private")
        server = Server(
            "kebab",
            version=__version__,
            instructions="How to.",
            cache_hints={"tools/list": hint, "server/discover": hint},
            on_list_tools=list_tools,
            on_call_tool=refuse,
            on_list_resources=refuse,
            on_completion=refuse,
        )
        responses = []

        async def converse():
            to_server, incoming = anyio.create_memory_object_stream[SessionMessage](10)
            outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](10)
            async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
                for stream in (to_server, incoming, outgoing, from_server):
                    await stack.enter_async_context(stream)
                tasks.start_soon(
                    server.run, incoming, outgoing, server.create_initialization_options()
                )
                for message in messages:
                    parsed = jsonrpc_message_adapter.validate_json(json.dumps(message))
                    await to_server.send(SessionMessage(parsed))
                    if "id" in message:
                        sent = await from_server.receive()
                        responses.append(
                            sent.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
                        )
                await to_server.aclose()

        anyio.run(converse)
        return responses

    return ask


@pytest.fixture
def ask(caller):
    """Return a function that gives messages of one client to ours."""

    def run(messages, *, text_only=False):
        protocol, session = Protocol(caller, lambda: "How to.", text_only=text_only), Session()
        responses = []
        for message in messages:
            decoded = decode_message(json.dumps(message).encode())
            if "id" in message:
                session.admit(decoded)
                responses.append(protocol.answer(decoded, session))
        return responses

    return run


def list_codes(responses):
    return [one.get("error", {}).get("code") for one in responses]


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01"])
@pytest.mark.parametrize("client", [CLIENT, HIDING])
def test_a_client_that_begins_with_a_handshake_gets_the_same_answers(ask, ask_sdk, version, client):
    capabilities = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": None}
    messages = [
        initialize(version, client, capabilities),
        INITIALIZED,
        build_call(1, "tools/list"),
        build_call("two", "tools/list", {"_meta": {"progressToken": 5}, "more": 1}),
        build_call(3, "ping"),
        build_call(4, "no/such", {"a": 1}),
        build_call(5, "server/discover"),
    ]

    assert ask(messages) == ask_sdk(messages)


@pytest.mark.parametrize("client", [CLIENT, HIDING])
def test_a_client_without_a_handshake_gets_the_same_answers(ask, ask_sdk, client):
    params = {"_meta": {**META, CLIENT_KEY: client}}
    messages = [
        build_call(1, "server/discover", params),
        build_call(2, "tools/list", params),
        build_call(3, "ping", params),
    ]

    assert ask(messages) == ask_sdk(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [build_call(1, "tools/list")],
        [build_call(1, "tools/call", {"name": "status"})],
        [build_call(1, "initialize", {"protocolVersion": "2025-11-25"})],
        [initialize("2025-11-25", {"name": 5, "version": "1"})],
        [initialize("2025-11-25", capabilities={"roots": 5})],
        [initialize("2025-11-25"), build_call(1, "tools/list", {"_meta": META})],
        [initialize("2025-11-25"), build_call(1, "tools/list", {"_meta": 5})],
        [initialize("2025-11-25"), initialize("2024-11-05")],
        [build_call(1, "tools/list", {"_meta": {VERSION_KEY: STATELESS_VERSION}})],
        [build_call(1, "tools/list", {"_meta": {**META, VERSION_KEY: "2999-01-01"}})],
        [build_call(1, "tools/list", {"_meta": {**META, VERSION_KEY: 5}})],
        [build_call(1, "tools/list", {"_meta": {**META, CLIENT_KEY: 5}})],
        [build_call(1, "tools/list", {"_meta": META}), build_call(2, "tools/list")],
        [build_call(1, "tools/list", {"_meta": META}), initialize("2025-11-25")],
    ],
)
def test_a_wrong_request_gets_the_same_code(ask, ask_sdk, messages):
    assert list_codes(ask(messages)) == list_codes(ask_sdk(messages))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"nonsense", -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32600),
    ],
)
def test_what_is_no_message_is_refused(raw, code):
    with pytest.raises(RequestError) as caught:
        decode_message(raw)

    assert caught.value.code == code


def test_an_unforeseen_fault_is_an_answer(ask, caller, monkeypatch):
    monkeypatch.setattr(caller, "list_tools", lambda **_: 1 / 0)
    (answer,) = ask([build_call(1, "tools/list", {"_meta": META})])

    assert answer["error"]["code"] == -32603
    assert answer["error"]["data"]["code"] == "generic"


def test_without_structured_results_the_tools_have_no_schema_for_them(ask):
    messages = [initialize("2025-11-25"), build_call(1, "tools/list")]
    (_, full), (_, short) = ask(messages), ask(messages, text_only=True)

    assert all("outputSchema" in tool for tool in full["result"]["tools"])
    assert not any("outputSchema" in tool for tool in short["result"]["tools"])


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("claude-code", True),
        ("codex-mcp-client", True),
        ("Visual Studio Code", True),
        ("opencode", False),
        ("inspector-cli", False),
        (None, False),
    ],
)
def test_clients_that_hide_the_text_are_known(client, expected):
    assert hides_text(client) is expected
