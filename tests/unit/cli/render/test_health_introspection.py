from msgspec.structs import replace

from kebab.app.classify import build_error_reply
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_schema
from kebab.errors.catalog import NotIndexed
from tests.fakes import replies


def test_four_blocks_follow_the_header():
    lines = list(render_schema(replies.introspection(), Canvas()))

    assert lines[0] == "kebab v0.1.0"
    assert [lines[at + 1] for at, line in enumerate(lines) if line == ""] == [
        "stats",
        "models",
        "capabilities",
        "wire schemas",
    ]


def test_the_names_of_schemas_are_folded_unless_asked_for():
    folded = "\n".join(render_schema(replies.introspection(), Canvas()))
    listed = "\n".join(render_schema(replies.introspection(), Canvas(), verbose=True))

    assert "error.v1, search_response.v1" not in folded
    assert "print one: kebab schema NAME" in folded
    assert "error.v1, search_response.v1" in listed


def test_keys_are_padded_and_missing_capabilities_have_a_mark():
    lines = list(render_schema(replies.introspection(), Canvas()))

    assert "  ✓ json_mode" in lines
    assert any(line.startswith("  ✗ ") and " review" in line for line in lines)
    assert "  last_ingest_at      none" in lines
    assert "  active_parsers           markdown-v1, text-v1" in lines
    assert "  index_bytes         sqlite 0 B, lancedb 0 B" in lines


def test_an_index_that_cannot_be_read_is_reported_at_the_end():
    signal = NotIndexed(data_dir="/kb", expected=3, found=999)
    told = replace(
        replies.introspection(), unreadable=build_error_reply(signal, operation="schema")
    )

    assert list(render_schema(told, Canvas()))[-3:] == [
        "",
        "note: no usable index in /kb: its schema is 999, this build reads 3",
        "hint: pip install --upgrade kebab",
    ]
