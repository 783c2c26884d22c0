from kebab.cli.render.introspection import draw
from kebab.cli.render.page import Page
from tests.fakes import replies


def test_four_blocks_stand_under_a_header():
    lines = list(draw(replies.introspection(), Page()))

    assert lines[0] == "kebab v0.1.0"
    assert [lines[at + 1] for at, line in enumerate(lines) if line == ""] == [
        "wire schemas",
        "capabilities",
        "models",
        "stats",
    ]


def test_keys_are_padded_and_capabilities_ticked():
    lines = list(draw(replies.introspection(), Page()))

    assert "  json_mode            ✓" in lines
    assert "  review               ✗" in lines
    assert "  last_ingest_at      none" in lines
    assert "  active_parsers           markdown-v1, text-v1" in lines
    assert "  index_bytes         sqlite 0, lancedb 0" in lines
