"""The client of the SDK gets tools, resources and completions, with and without a handshake."""

import os
import threading
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import jsonschema
import pytest
from mcp.client.client import Client
from mcp.shared.message import SessionMessage
from mcp_types import ResourceTemplateReference, jsonrpc_message_adapter

from kebab.mcp.protocol import Protocol
from kebab.mcp.stdio import StdioServer

MODES = ["auto", "legacy"]


@asynccontextmanager
async def connect(caller):
    """Yield the streams of a client of the SDK, with a server between two pipes."""
    (source, to_server), (from_server, sink) = os.pipe(), os.pipe()

    def serve():
        with os.fdopen(source, "rb") as lines, os.fdopen(sink, "wb", 0) as output:
            server = StdioServer(Protocol(caller, lambda: "How to."), lines, output.write)
            server.serve()
            server.reader.join(30)

    thread = threading.Thread(target=serve)
    thread.start()
    to_client, received = anyio.create_memory_object_stream[SessionMessage](10)
    sending, sent = anyio.create_memory_object_stream[SessionMessage](10)

    async def receive():
        with os.fdopen(from_server, "rb") as lines:
            while line := await anyio.to_thread.run_sync(lines.readline):
                await to_client.send(SessionMessage(jsonrpc_message_adapter.validate_json(line)))

    async def send():
        with os.fdopen(to_server, "wb", 0) as output:
            async for message in sent:
                output.write(message.message.model_dump_json(by_alias=True).encode() + b"\n")

    async with to_client, received, sending, sent, anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield received, sending
        await sending.aclose()
    await anyio.to_thread.run_sync(thread.join, 30)
    assert not thread.is_alive()


@pytest.fixture
def converse(caller):
    """Return a function that runs a conversation of a client with the server."""

    def run(talk, mode="auto"):
        async def main():
            async with Client(connect(caller), mode=mode) as client:
                return await talk(client)

        return anyio.run(main)

    return run


@pytest.mark.parametrize("mode", MODES)
def test_a_search_gives_text_links_and_a_typed_result(converse, mode):
    async def talk(client):
        tools = await client.list_tools()
        return tools.tools[0], await client.call_tool("search", {"queries": "sourdough"})

    tool, result = converse(talk, mode)

    assert [one.type for one in result.content] == ["text", "resource_link"]
    assert not result.is_error
    jsonschema.validate(result.structured_content, tool.output_schema)


@pytest.mark.parametrize("mode", MODES)
def test_a_link_can_be_read(converse, mode):
    async def talk(client):
        found = await client.call_tool("search", {"queries": "sourdough"})
        return await client.read_resource(found.content[1].uri)

    assert "ferments overnight" in converse(talk, mode).contents[0].text


@pytest.mark.parametrize("mode", MODES)
def test_paths_are_completed(converse, mode):
    async def talk(client):
        (template,) = (await client.list_resource_templates()).resource_templates
        listed = (await client.list_resources()).resources
        reference = ResourceTemplateReference(uri=template.uri_template)
        found = await client.complete(reference, {"name": "path", "value": "bread"})
        return listed, found.completion.values

    listed, values = converse(talk, mode)

    assert len(listed) == 2
    assert f"kebab://{values[0]}" in [str(one.uri) for one in listed]


@pytest.mark.parametrize("mode", MODES)
def test_an_ingest_tells_how_far_it_is(converse, mode):
    heard = []

    async def hear(progress, total, message):
        del total
        heard.append((progress, message))

    async def talk(client):
        return await client.call_tool("ingest", {}, progress_callback=hear)

    assert not converse(talk, mode).is_error
    assert heard == sorted(heard)
    assert heard[0][1]
