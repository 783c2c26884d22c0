"""A tool call becomes a result: text and a typed object, or an error with advice.

The client is that of the official package.
"""

import io
import json
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from kebab.server import tools
from kebab.server.mcp import McpServer
from kebab.server.requests import Call
from kebab.wire.error import ErrorReply
from kebab.wire.json_schema import build_schema
from tests.fakes.waiting import PATIENCE_S
from tests.shape.tree import ROOT
from tests.unit.server.conftest import make_settings

CALLS: dict[str, list[dict[str, Any]]] = {
    "search": [
        {"queries": ["oven"]},
        {"queries": ["oven", "Hecke"], "limit": 1, "detail": "ids"},
        {"queries": ["qqqqqqqq"]},
        {"queries": ["oven"], "path": "nowhere/", "tag": ["none"], "property": "a=b"},
        {"queries": ["oven"], "since": "30d", "max_tokens": 20},
    ],
    "read": [
        {"refs": ["bread.md#L3-L5"]},
        {"refs": ["bread.md", "nowhere.md"], "max_tokens": 20},
        {"refs": ["bread.md#L5"], "section": True},
    ],
    "grep": [
        {"pattern": "Flour"},
        {"pattern": "FLOUR", "ignore_case": True, "limit": 1, "context": 1, "path": "bread.md"},
        {"pattern": "a(", "fixed": True},
    ],
    "outline": [{}, {"ref": "bread.md"}, {"ref": "nowhere.md"}, {"depth": 1}],
    "status": [{}, {"all": True}],
}
EVERY = [(name, arguments) for name, calls in CALLS.items() for arguments in calls]
BROKEN = [
    ("search", {"query": "oven"}, "queries (required)"),
    ("search", {}, "queries (required)"),
    ("search", {"queries": []}, "length >= 1"),
    ("search", {"queries": ""}, "queries (required)"),
    ("search", {"queries": ["x"], "limit": 0}, "$.limit"),
    ("search", {"queries": ["x"], "detail": "much"}, "$.detail"),
    ("search", {"queries": ["x"], "since": "whenever"}, "since"),
    ("read", {"refs": 5}, "refs (required)"),
    ("grep", {"pattern": "a("}, "pattern"),
]
ALWAYS = {
    "search": {"hits", "convincing"},
    "read": {"places"},
    "grep": {"files", "has_more"},
    "outline": {"found"},
    "status": {"documents", "passages", "changed", "pending"},
}


def read_text(result):
    return result.content[0].text


@pytest.mark.parametrize(("name", "arguments"), EVERY)
def test_a_structured_result_is_that_of_its_tool(ask_mcp, name, arguments):
    result = ask_mcp("call_tool", name, arguments)

    assert ALWAYS[name] <= result.structured_content.keys()
    assert read_text(result)
    assert result.is_error == (arguments.get("ref") == "nowhere.md")


@pytest.mark.parametrize(("name", "arguments", "said"), BROKEN)
def test_wrong_arguments_are_a_result_that_says_how_to_mend_the_call(
    ask_mcp, name, arguments, said
):
    result = ask_mcp("call_tool", name, arguments)

    assert result.is_error
    assert said in read_text(result)
    assert f"arguments of {name}: " in read_text(result)
    jsonschema.validate(result.structured_content, build_schema(ErrorReply))
    assert result.structured_content["code"] == "invalid_input"


def test_a_tool_that_the_server_does_not_offer_is_named_with_its_flag(ask_mcp, make_mcp):
    with pytest.raises(MCPError, match="--allow-write"):
        ask_mcp("call_tool", "ingest", {}, server=make_mcp(allow_write=False))
    with pytest.raises(MCPError, match="search, read"):
        ask_mcp("call_tool", "find", {})


@pytest.mark.parametrize("name", ["search", "read", "grep", "outline"])
def test_without_an_index_a_tool_says_so(ask_mcp, make_mcp, tmp_path, name):
    server = make_mcp(load_settings=lambda: make_settings(tmp_path))
    result = ask_mcp("call_tool", name, CALLS[name][0], server=server)

    assert result.structured_content["code"] == "not_indexed"
    assert "hint: kebab" in read_text(result)


def test_the_text_of_a_result_is_not_repeated_in_its_structure(ask_mcp):
    result = ask_mcp("call_tool", "search", {"queries": ["oven heat"]})

    assert "Heat the oven" in read_text(result)
    assert "Heat the oven" not in json.dumps(result.structured_content)
    (first, *_) = result.structured_content["hits"]
    assert first["freshness"] == "fresh"


def test_a_page_names_the_cursor_of_the_next_one_and_its_references_can_be_read(ask_mcp, make_mcp):
    server = make_mcp()
    asked = {"queries": ["oven Hecke"], "limit": 1}
    first = ask_mcp("call_tool", "search", asked, server=server)
    cursor = first.structured_content["next_cursor"]
    second = ask_mcp("call_tool", "search", {**asked, "cursor": cursor}, server=server)

    assert f'more: cursor "{cursor}"' in read_text(first)
    refs = [one.structured_content["hits"][0]["ref"] for one in (first, second)]
    assert refs[0] != refs[1]
    read = ask_mcp("call_tool", "read", {"refs": refs}, server=server).structured_content
    assert len(read["places"]) == 2


def test_text_alone_is_all_that_some_clients_get(ask_mcp, make_mcp):
    server = make_mcp(text_only=True)
    result = ask_mcp("call_tool", "search", {"queries": ["oven"]}, server=server)
    failed = ask_mcp("call_tool", "search", {}, server=server)

    assert (len(result.content), result.structured_content) == (1, None)
    assert (failed.is_error, failed.structured_content) == (True, None)


def test_an_ingest_can_be_cancelled(ask_mcp, make_mcp, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "new.md").write_text("# New\n", encoding="utf-8")
    server = make_mcp(load_settings=lambda: make_settings(tmp_path))
    paths = {"paths": [str(tmp_path / "notes")]}
    done = ask_mcp("call_tool", "ingest", paths, server=server)
    call = Call()
    call.cancel.request()
    tool = next(one for one in tools.TOOLS if one.name == "ingest")
    stopped = server._run_tool(tool, {}, call)

    assert done.structured_content["new"] == 1
    assert stopped["structuredContent"]["cancelled"]


def test_a_fault_of_the_program_becomes_a_result(ask_mcp, monkeypatch):
    monkeypatch.setattr("kebab.app.facade.Kebab.run", lambda *_, **__: 1 / 0)

    result = ask_mcp("call_tool", "search", {"queries": ["x"]})

    assert result.structured_content["code"] == "generic"
    assert "ZeroDivisionError" not in json.dumps(result.structured_content)


def serve(server: McpServer, lines: bytes) -> list[dict[str, Any]]:
    """Return the messages that a server answers to its standard input."""
    out = io.StringIO()
    anyio.run(server.serve_stdio, io.TextIOWrapper(io.BytesIO(lines), "utf-8", "replace"), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_calls_as_clients_record_them_are_all_answered(make_mcp):
    recorded = (ROOT / "tests" / "cases" / "mcp" / "calls.jsonl").read_bytes()
    answers = {one["id"]: one for one in serve(make_mcp(), recorded)}

    asked = [json.loads(line) for line in recorded.splitlines()]
    assert answers.keys() == {one["id"] for one in asked if "id" in one}
    results = [one["result"] for one in answers.values()]
    assert not any(result.get("isError") for result in results)
    searched = [result["structuredContent"] for result in results if "structuredContent" in result]
    assert all(one["hits"] for one in searched if "hits" in one)


def test_the_server_ends_with_its_input(make_mcp):
    assert serve(make_mcp(), b"") == []


@pytest.mark.parametrize("line", [b"{", b"[]", b"nonsense", b'{"jsonrpc":"2.0","id":1}', b"\xff"])
def test_a_line_that_is_no_message_does_not_end_the_server(make_mcp, line):
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    answers = serve(make_mcp(), line + b"\n" + ping + b"\n")

    assert answers[-1] == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_call_that_is_cancelled_stops_its_work(make_mcp, monkeypatch):
    started, stopped = anyio.Event(), anyio.Event()

    async def main() -> None:
        server = make_mcp()
        loop_run = server._operations.run

        async def run(operation: str, work: Any, call: Call) -> Any:
            del operation, work
            try:
                started.set()
                await anyio.sleep_forever()
            finally:
                stopped.set()

        server._operations.run = run
        assert loop_run
        async with Client(server.server) as client:
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "search", {"queries": ["x"]})
                await started.wait()
                calls.cancel_scope.cancel()
            with anyio.fail_after(PATIENCE_S):
                await stopped.wait()

    anyio.run(main)
