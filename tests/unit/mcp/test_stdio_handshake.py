"""The first messages are answered at once, with what the SDK itself answers later."""

import json
from contextlib import AsyncExitStack

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kebab.mcp.calls import Resources
from kebab.mcp.server import Handlers, build_server
from kebab.mcp.stdio import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_VERSIONS,
    STATELESS_VERSION,
    VERSION_KEY,
    Handshake,
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
    """Return a function that gives messages to the SDK, and returns its responses."""

    def ask(messages, *, text_only=False):
        handlers = Handlers(caller, Resources(caller), text_only=text_only)
        server = build_server(handlers, "How to use it.")
        responses = []

        async def converse():
            to_server, incoming = anyio.create_memory_object_stream[SessionMessage](10)
            outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](10)
            streams = (to_server, incoming, outgoing, from_server)
            async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
                for stream in streams:
                    await stack.enter_async_context(stream)
                options = server.create_initialization_options()
                tasks.start_soon(server.run, incoming, outgoing, options)
                for message in messages:
                    line = json.dumps(message)
                    parsed = jsonrpc_message_adapter.validate_json(line)
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
def answer(caller):
    """Return a function that answers messages without the SDK."""

    def ask(messages, *, text_only=False):
        handshake = Handshake("How to use it.", caller.list_tools, text_only=text_only)
        return [handshake.answer(message) for message in messages if "id" in message]

    return ask


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01"])
@pytest.mark.parametrize("client", [CLIENT, HIDING])
@pytest.mark.parametrize("text_only", [True, False])
def test_the_sdk_gives_the_same_answers_to_clients_that_initialize(
    answer, ask_sdk, version, client, text_only
):
    capabilities = {"roots": {"listChanged": True}, "sampling": {}}
    messages = [
        initialize(version, client, capabilities),
        INITIALIZED,
        build_call(1, "tools/list"),
        build_call("two", "tools/list", {"_meta": {"progressToken": 5}}),
        build_call(3, "ping"),
    ]

    answers = answer(messages, text_only=text_only)

    assert None not in answers
    assert answers == ask_sdk(messages, text_only=text_only)


@pytest.mark.parametrize("client", [CLIENT, HIDING])
def test_the_sdk_gives_the_same_answers_to_clients_without_a_handshake(answer, ask_sdk, client):
    params = {"_meta": {**META, CLIENT_KEY: client}}
    messages = [
        build_call(1, "server/discover", params),
        build_call(2, "tools/list", params),
    ]

    answers = answer(messages)

    assert None not in answers
    assert answers == ask_sdk(messages)


@pytest.mark.parametrize(
    "message",
    [
        build_call(1, "tools/call", {"name": "status"}),
        build_call(1, "tools/list"),
        build_call(None, "ping"),
        build_call(1, "initialize", {"protocolVersion": "2025-11-25"}),
        build_call(1, "initialize", [1]),
        initialize("2025-11-25", {"name": 5, "version": "1"}),
        initialize("2025-11-25", capabilities={"roots": 5}),
        build_call(1, "server/discover", {"_meta": {VERSION_KEY: STATELESS_VERSION}}),
        build_call(1, "server/discover", {"_meta": {**META, VERSION_KEY: "2999-01-01"}}),
        build_call(1, "server/discover", {"_meta": META, "cursor": "x"}),
        build_call(1, "ping", {"_meta": META}),
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_everything_else_waits_for_the_sdk(answer, message):
    assert answer([message]) == [None]


def test_a_second_handshake_waits_for_the_sdk(answer):
    first, second = answer([initialize("2025-11-25"), initialize("2025-11-25")])

    assert (first is not None, second) == (True, None)


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
