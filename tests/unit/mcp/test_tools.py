"""What every model reads of the tools is short, closed, and always in the same order."""

import json

import jsonschema
import pytest
from msgspec import Struct

from kebab.mcp.tools import (
    TOOLS,
    build_input_schema,
    build_instructions,
    build_output_schema,
    describe_index,
    select_tools,
)
from kebab.wire.health import SchemaRequest
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.library import SourceListRequest

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


MOST_WORDS = 150


def test_they_name_folders_formats_languages_and_tools(caller, notes):
    text = caller.run(build_instructions)

    assert f"2 documents in {notes}" in text
    assert "Markdown 2" in text
    assert "de 1" in text
    for tool in ("search", "read", "grep", "outline", "explain"):
        assert f"`{tool}`" in text
    assert len(text.split()) <= MOST_WORDS


def test_an_empty_index_names_the_command_that_fills_it(empty):
    assert "kebab ingest FOLDER" in empty.run(build_instructions)


def test_changed_files_are_counted(caller, notes):
    (notes / "bread.md").write_text("# Other\n", encoding="utf-8")

    assert "1 file changed since" in caller.run(build_instructions)


def test_many_folders_are_summed_up(caller, tmp_path):
    for number in range(3):
        text = IngestTextRequest(text=b"One more text.", title=f"Text {number}")
        caller.run(lambda kebab, text=text: kebab.run(text))
    reply = caller.run(lambda kebab: kebab.run(SchemaRequest()))
    sources = caller.run(lambda kebab: kebab.run(SourceListRequest())).sources

    first, *_ = describe_index(reply, sources, most=1)

    assert first.endswith("and 1 more.")


class Part(Struct, kw_only=True):
    """A part."""

    name: str


class Whole(Struct, kw_only=True, forbid_unknown_fields=True):
    """A whole."""

    parts: list[Part]
    either: str | list[str]
    limit: int = 3
    path: str | None = None
    is_deep: bool = False


def test_an_input_schema_is_closed_and_without_null_alternatives():
    assert build_input_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "either": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
            },
            "limit": {"type": "integer", "default": 3},
            "path": {"type": "string"},
            "is_deep": {"type": "boolean"},
        },
        "required": ["parts", "either"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("value", "fits"),
    [({"parts": [], "either": "x"}, True), ({"code": "locked"}, True), ({"parts": []}, False)],
)
def test_an_output_schema_takes_a_result_or_an_error(value, fits):
    validator = jsonschema.Draft202012Validator(build_output_schema(Whole))

    assert validator.is_valid(value) is fits
