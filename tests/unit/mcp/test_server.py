"""The client of the SDK gets tools, resources and completions, with and without a handshake."""

import threading

import anyio
import anyio.to_thread
import jsonschema
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.mcp.calls import Resources
from kebab.mcp.server import Handlers, ProgressReporter, RunningWork, build_server
from kebab.wire.ask import AnswerEvent

MODES = ["auto", "legacy"]


@pytest.fixture
def converse(caller):
    """Return a function that runs a conversation of a client with the server."""

    def run(talk, mode="auto"):
        server = build_server(Handlers(caller, Resources(caller), text_only=False), "How to.")

        async def main():
            async with Client(server, mode=mode) as client:
                return await talk(client)

        return anyio.run(main)

    return run


@pytest.mark.parametrize("mode", MODES)
def test_a_client_learns_how_to_use_the_server(converse, mode):
    async def talk(client):
        return client.instructions, await client.list_tools()

    instructions, tools = converse(talk, mode)

    assert instructions == "How to."
    assert [tool.name for tool in tools.tools][:3] == ["search", "read", "grep"]


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
def test_wrong_arguments_are_a_result(converse, mode):
    async def talk(client):
        return await client.call_tool("search", {"query": "sourdough"})

    result = converse(talk, mode)

    assert result.is_error
    assert result.structured_content["code"] == "invalid_input"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("uri", ["kebab:///etc/passwd", "kebab://", "http://x"])
def test_an_unknown_resource_is_refused(converse, mode, uri):
    async def talk(client):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value.error.message

    assert uri in converse(talk, mode)


def test_an_unknown_tool_is_refused_with_the_names_of_the_others(converse):
    async def talk(client):
        with pytest.raises(MCPError, match="the tools are: search"):
            await client.call_tool("find", {})

    converse(talk)


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


def test_work_is_asked_to_stop_and_waited_for():
    work, cancel, begun = RunningWork(), Cancel(), threading.Event()

    def run():
        begun.set()
        while not cancel.requested:
            threading.Event().wait(0.01)

    thread = threading.Thread(target=work.run, args=(run, cancel))
    thread.start()
    begun.wait()
    work.stop(10)

    assert cancel.requested
    thread.join(1)
    assert not thread.is_alive()


@pytest.fixture
def send_progress():
    """Return a function that reports events from a thread, and returns what was sent."""

    def run(events, cancel=None):
        sent = []

        async def notify(progress, total, message):
            sent.append((progress, message))

        reporter = ProgressReporter(notify, cancel or Cancel())

        def work():
            for event in events:
                reporter.report(event)

        async def main():
            await anyio.to_thread.run_sync(work)

        anyio.run(main)
        return sent

    return run


def test_numbers_increase_and_messages_say_how_far_it_is(send_progress, monkeypatch):
    monkeypatch.setattr("kebab.mcp.server._PROGRESS_INTERVAL_S", 0)
    events = [
        Progress(ProgressKind.SCAN_STARTED),
        Progress(ProgressKind.ASSET_FINISHED, done=2, total=3, unit="files", phase="reading"),
    ]

    assert send_progress(events) == [(1.0, "scan started"), (2.0, "reading 2/3 files")]


def test_events_in_quick_succession_are_sent_once(send_progress):
    assert len(send_progress([Progress(ProgressKind.HEARTBEAT)] * 50)) == 1


def test_nothing_is_sent_for_a_cancelled_request(send_progress):
    cancel = Cancel()
    cancel.request()

    assert send_progress([Progress(ProgressKind.HEARTBEAT)], cancel) == []


def test_an_answer_is_stopped_by_its_next_event():
    cancel = Cancel()
    cancel.request()

    async def notify(progress, total, message):
        raise AssertionError((progress, total, message))

    with pytest.raises(KeyboardInterrupt):
        ProgressReporter(notify, cancel).report(AnswerEvent(type="token", delta="a"))
