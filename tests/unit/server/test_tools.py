"""What every model reads of the tools is short, closed, and always in the same order."""

import json

import jsonschema
import pytest

from kebab.app.facade import Kebab
from kebab.errors.catalog import InvalidInput
from kebab.server.tools import (
    TOOLS,
    Read,
    Search,
    Status,
    build_instructions,
    describe_tool,
    read_arguments,
)
from tests.unit.server.conftest import make_settings

READING = ["search", "read", "grep", "outline", "status"]
MOST_BYTES = 3500
ENVELOPE = {
    "ttlMs": 300_000,
    "cacheScope": "private",
    "resultType": "complete",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "kebab", "version": "0.1.0"}},
}
"""What the newest version of the protocol adds to a list."""


def test_the_tools_that_read_come_first():
    assert [tool.name for tool in TOOLS] == [*READING, "ingest", "ask"]
    assert [tool.name for tool in TOOLS if tool.permission is None] == READING


def test_the_list_of_all_tools_is_short():
    listed = {
        "tools": [describe_tool(tool) for tool in TOOLS if tool.permission is None]
    } | ENVELOPE

    assert len(json.dumps(listed, separators=(",", ":"))) <= MOST_BYTES


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_declares_closed_arguments(tool):
    schema = describe_tool(tool)["inputSchema"]

    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)


MOST_WORDS = 150


@pytest.fixture
def kebab(base):
    with Kebab(make_settings(base), config_path=base / "config.toml") as kebab:
        yield kebab


def test_they_name_folders_formats_languages_and_tools(kebab, base):
    text = build_instructions(kebab)

    assert f"9 documents in {base / 'notes'}" in text
    assert "Markdown 4" in text
    for tool in ("search", "read", "grep", "outline"):
        assert f"`{tool}`" in text
    assert len(text.split()) <= MOST_WORDS


@pytest.mark.parametrize(
    ("tool", "given", "read"),
    [
        (Search, {"queries": "Doc", "path": "", "since": None, "cursor": ""}, {"queries": ["Doc"]}),
        (Search, {"queries": '["Doc 31", "draft"]'}, {"queries": ["Doc 31", "draft"]}),
        (Search, {"queries": "[draft] plan"}, {"queries": ["[draft] plan"]}),
        (Search, {"queries": ["a", ""], "limit": "2", "tag": "x"},
         {"queries": ["a"], "limit": 2, "tag": ["x"]}),
        (Read, {"refs": "[1]", "section": "true"}, None),
        (Read, {"refs": "a.md#L1"}, {"refs": ["a.md#L1"]}),
        (Status, {"all": True}, {}),
    ],
)  # fmt: skip
def test_arguments_are_read_as_clients_send_them(tool, given, read):
    if read is None:
        with pytest.raises(InvalidInput):
            read_arguments(tool, given)
        return
    assert read_arguments(tool, given) == tool(**read)
