"""The servers answer as the dispatcher: the warm process, HTTP and MCP."""

import os
import sys

import msgspec
import pytest

from kebab.wire.operations import OPERATIONS, REMOTE_OPERATIONS
from tests.e2e import mcp_parity
from tests.e2e.comparison import check_lines, compare
from tests.e2e.conftest import ROOT
from tests.e2e.parity import Case, World, list_cases
from tools.surfaces.clients import CommandClient, LibraryClient, run_process
from tools.surfaces.mcp_client import McpClient
from tools.surfaces.servers import is_warm, run_http_server, use_warm_process

pytestmark = pytest.mark.xdist_group("servers")  # one worker starts them

WARM = ["search", "fetch", "grep", "list", "inspect_doc", "outline", "related", "explain"]
"""Operations that the warm process answers, with one case each, because each call is a process."""

MOST = 1

HTTP_HINTS = ("hint",)
"""The hint of a usage error leads to the help of the program, which is the server here."""


@pytest.fixture(scope="module")
def environment(world):
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def http(world: World, environment):
    with run_http_server(environment, world.folder) as client:
        yield client


@pytest.fixture(scope="module")
def mcp(world: World, environment):
    with McpClient(environment, world.folder) as client:
        yield client


@pytest.mark.parametrize("operation", REMOTE_OPERATIONS)
def test_http_answers_as_the_dispatcher(world, http, operation):
    differences = []
    for one in list_cases(operation):
        expected = world.ask(LibraryClient(is_owner=False), operation, one)
        assert expected.reply.get("code") != "generic", one.raw
        more = HTTP_HINTS if expected.reply.get("code") == "usage_invalid" else ()
        told = compare(operation, expected, world.ask(http, operation, one), *more)
        differences += [f"{one.raw[:80]!r}: {line}" for line in told]

    assert not differences, "\n".join(differences)


def test_every_operation_has_a_tool_or_a_reason_for_none(mcp):
    assert mcp_parity.TOOLS_OF.keys() | mcp_parity.NO_TOOL.keys() == OPERATIONS.keys()
    assert not mcp_parity.TOOLS_OF.keys() & mcp_parity.NO_TOOL.keys()
    assert {*mcp_parity.TOOLS_OF.values()} == mcp.tools.keys()
    assert {one.tool for one in mcp_parity.CASES} | {"ask"} == mcp.tools.keys()


@pytest.mark.parametrize("one", mcp_parity.CASES, ids=lambda one: one.tool)
def test_a_tool_answers_as_its_operation(world, mcp, one):
    request = Case(msgspec.json.encode(one.fields))
    arguments = Case(msgspec.json.encode(one.arguments))
    expected = world.ask(LibraryClient(is_owner=False), one.operation, request)
    found = mcp.ask(one.tool, world.fill(arguments).raw)

    assert found.failed == expected.failed
    if found.failed:
        names = ("code", "kind", "retry", "severity", "exit_code")
        assert [found.reply[name] for name in names] == [expected.reply[name] for name in names]
        return
    shared = mcp_parity.drop_defaults(mcp_parity.SHARED[one.operation](expected.reply))
    del found.reply["schema_version"]
    found.reply.get("coverage", {}).pop("checked_at", None)
    assert mcp_parity.drop_defaults(found.reply) == shared


@pytest.mark.parametrize("raw", [b"{}", b'{"colour": 1}', b'{"queries": 7}', b'{"queries": []}'])
def test_a_tool_refuses_what_breaks_its_schema(mcp, raw):
    assert mcp.ask("search", raw).reply["code"] == "invalid_input"


@pytest.mark.skipif(sys.platform != "linux", reason="the warm process needs Linux")
def test_the_warm_process_answers_as_the_dispatcher(world, reference, environment):
    warm = {**environment, "KEBAB_DAEMON_AUTO": "true"}
    client = CommandClient(lambda line: run_process(line, warm, world.folder))
    with use_warm_process(warm, world.folder):
        for operation in WARM:
            assert check_lines(client, world, reference, operation, most=MOST)
        assert is_warm(warm, world.folder)

    assert not is_warm(warm, world.folder)
