"""Clients over HTTP get the same answers, one JSON object for each request."""

import json
import threading
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from kebab.mcp.http import Headers, McpApplication
from kebab.wire.ingest import IngestTextRequest
from tests.unit.mcp.test_protocol import META, build_call

URL = "http://127.0.0.1/mcp"
HEADERS = {"accept": "application/json, text/event-stream"}
MODES = ["auto", "legacy"]


@pytest.fixture
def serve(caller):
    """Return a function that runs a conversation with the application."""

    def run(talk):
        application = McpApplication(caller)

        async def main():
            transport = httpx2.ASGITransport(app=application)
            async with application.run(), httpx2.AsyncClient(transport=transport) as http:
                return await talk(http)

        return anyio.run(main)

    return run


@asynccontextmanager
async def connect(http, mode):
    async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", MODES)
def test_the_client_of_the_sdk_gets_tools_results_and_resources(serve, mode):
    async def talk(http):
        async with connect(http, mode) as client:
            tools = await client.list_tools()
            found = await client.call_tool("search", {"queries": "sourdough"})
            text = await client.read_resource(found.content[1].uri)
            return client.instructions, tools.tools, found, text

    instructions, tools, found, text = serve(talk)

    assert "2 documents" in instructions
    assert [tool.name for tool in tools][:2] == ["search", "read"]
    assert found.structured_content["hits"]
    assert "ferments" in text.contents[0].text


@pytest.mark.parametrize("mode", MODES)
def test_several_clients_are_served_at_once(serve, mode):
    async def talk(http):
        results = []

        async def ask():
            async with connect(http, mode) as client:
                results.append(await client.call_tool("grep", {"pattern": "flour"}))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        return results

    assert [result.is_error for result in serve(talk)] == [False] * 5


@pytest.mark.parametrize(
    ("agent", "structured"), [("probe/1", True), ("claude-code/2.1 (cli)", False)]
)
def test_a_client_that_hides_the_text_is_known_by_its_user_agent(serve, agent, structured):
    call = build_call(1, "tools/call", {"name": "status", "arguments": {}})

    async def talk(http):
        headers = {**HEADERS, "user-agent": agent, "mcp-protocol-version": "2025-06-18"}
        return (await http.post(URL, json=call, headers=headers)).json()

    assert ("structuredContent" in serve(talk)["result"]) is structured


def test_media_types_may_be_in_several_headers():
    headers = Headers([(b"accept", b"text/event-stream"), (b"accept", b"Application/JSON;q=1")])

    assert headers.list_media(b"accept") == {"text/event-stream", "application/json"}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_only_requests_with_a_body_are_taken(serve, method):
    async def talk(http):
        return await http.request(method, URL, headers=HEADERS)

    response = serve(talk)

    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def ask(serve, call, **changes):
    """Return the status of a request of the version without a handshake, and its error code."""
    names = {"mcp_protocol_version": "2026-07-28", "mcp_method": call.get("method")}
    headers = {
        **HEADERS,
        **{key.replace("_", "-"): value for key, value in (names | changes).items()},
    }

    async def talk(http):
        return await http.post(URL, json=call, headers=headers)

    response = serve(talk)
    return response.status_code, response.json().get("error", {}).get("code")


CALL = build_call(1, "tools/call", {"name": "status", "_meta": META})


@pytest.mark.parametrize(
    ("call", "changes", "expected"),
    [
        (CALL, {"mcp_name": "status"}, (200, None)),
        (CALL, {"mcp_name": "=?base64?c3RhdHVz?="}, (200, None)),
        (CALL, {"mcp_name": "=?base64?c3Rhd!Vz?="}, (400, -32020)),
        (CALL, {"mcp_name": "search"}, (400, -32020)),
        (CALL, {"mcp_name": "status", "mcp_method": "tools/list"}, (400, -32020)),
        (CALL, {"mcp_name": "status", "mcp_protocol_version": "2999-01-01"}, (400, -32020)),
        (CALL, {"mcp_name": "status", "accept": "text/html"}, (406, -32600)),
        (CALL, {"mcp_name": "status", "content_type": "text/plain"}, (415, -32600)),
        (build_call(1, "no/such", {"_meta": META}), {}, (404, -32601)),
        (build_call(1, "tools/list", {}), {}, (400, -32602)),
    ],
)
def test_the_headers_repeat_what_the_request_says(serve, call, changes, expected):
    assert ask(serve, call, **changes) == expected


@pytest.mark.parametrize(
    "message", [{"method": "notifications/initialized"}, {"id": 1, "result": {}}]
)
def test_what_needs_no_answer_is_accepted(serve, message):
    async def talk(http):
        return await http.post(URL, json={"jsonrpc": "2.0", **message}, headers=HEADERS)

    response = serve(talk)

    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"jsonrpc": "2.0"}', b"[" * 50_000])
def test_a_broken_body_is_refused(serve, body):
    async def talk(http):
        headers = {**HEADERS, "content-type": "application/json"}
        return await http.post(URL, content=body, headers=headers)

    response = serve(talk)

    assert response.status_code == 400
    assert json.loads(response.content)["error"]


def test_a_later_client_learns_what_the_index_holds_now(serve, caller):
    more = IngestTextRequest(text=b"One more text.", title="More")

    async def talk(http):
        seen = []
        for _ in range(2):
            params = {"_meta": META}
            headers = {
                **HEADERS,
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "server/discover",
            }
            call = build_call(1, "server/discover", params)
            answer = await http.post(URL, json=call, headers=headers)
            seen.append(answer.json()["result"]["instructions"])
            await anyio.to_thread.run_sync(caller.run, lambda kebab: kebab.run(more))
        return seen

    first, second = serve(talk)

    assert "2 documents" in first
    assert "3 documents" in second


def test_clients_that_come_together_all_learn_what_the_index_holds(serve, caller, monkeypatch):
    both = threading.Barrier(2, timeout=10)

    def describe():
        both.wait()
        return "Described."

    monkeypatch.setattr(caller, "describe_index", describe)
    client = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "a", "version": "1"}}
    call = build_call(1, "initialize", client | {"capabilities": {}})
    learned = []

    async def talk(http):
        async def begin():
            answer = await http.post(URL, json=call, headers=HEADERS)
            learned.append(answer.json()["result"]["instructions"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(begin)
            tasks.start_soon(begin)

    serve(talk)

    assert learned == ["Described."] * 2
