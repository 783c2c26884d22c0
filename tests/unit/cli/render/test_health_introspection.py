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
        "wire schemas",
        "capabilities",
        "models",
        "stats",
    ]


def test_keys_are_padded_and_capabilities_have_marks():
    lines = list(render_schema(replies.introspection(), Canvas()))

    assert "  json_mode            ✓" in lines
    assert "  review               ✗" in lines
    assert "  last_ingest_at      none" in lines
    assert "  active_parsers           markdown-v1, text-v1" in lines
    assert "  index_bytes         sqlite 0, lancedb 0" in lines


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
