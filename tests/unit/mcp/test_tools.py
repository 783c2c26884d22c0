"""What every model reads of the tools is short, closed, and always in the same order."""

import json

import jsonschema
import pytest

from kebab.mcp.tools import TOOLS, select_tools

READING = ["search", "read", "grep", "outline", "explain", "status"]
MOST_BYTES = 6200
"""Every tool has a field on what the index covers."""
ENVELOPE = {
    "ttlMs": 300_000,
    "cacheScope": "private",
    "resultType": "complete",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "kebab", "version": "0.1.0"}},
}
"""What the newest version of the protocol adds to a list."""


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ({"allow_write": False, "with_ask": False}, READING),
        ({"allow_write": True, "with_ask": False}, [*READING, "ingest"]),
        ({"allow_write": False, "with_ask": True}, [*READING, "ask"]),
    ],
)
def test_writing_and_asking_are_offered_on_request_only(flags, names):
    assert [tool.name for tool in select_tools(**flags)] == names


@pytest.mark.parametrize("structured", [True, False])
def test_the_list_of_all_tools_is_short(structured):
    listed = {"tools": [tool.describe(structured=structured) for tool in TOOLS]} | ENVELOPE

    assert len(json.dumps(listed, separators=(",", ":"))) <= MOST_BYTES


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_declares_closed_arguments_and_its_result(tool):
    listed = tool.describe(structured=True)

    for name in ("inputSchema", "outputSchema"):
        jsonschema.Draft202012Validator.check_schema(listed[name])
        assert listed[name]["type"] == "object"
    assert listed["inputSchema"]["additionalProperties"] is False
    assert "outputSchema" not in tool.describe(structured=False)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_only_the_tool_that_writes_is_not_read_only(tool):
    hints = tool.describe(structured=True)["annotations"]

    assert hints["readOnlyHint"] is (tool.name != "ingest")
    assert hints["openWorldHint"] is False
