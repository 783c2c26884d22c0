"""A small knowledge base behind the tools; it has no model, so words find the passages."""

import pytest

from kebab.app.dispatch import KebabPool
from kebab.cli.mcp import render_for_model
from kebab.config.load import load_settings
from kebab.mcp.calls import ToolCaller
from kebab.mcp.tools import select_tools
from kebab.wire.ingest import IngestRequest

BREAD = """\
# Bread

## Sourdough

A sourdough starter ferments overnight in a warm kitchen.

## Rye

Rye flour needs more water than wheat flour.
"""
SPACED = "# Garten\n\nDie Rosen werden im März geschnitten, die Hecke erst im Juni.\n"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "my plans").mkdir(parents=True)
    (folder / "bread.md").write_text(BREAD, encoding="utf-8")
    (folder / "my plans" / "garten ü#1.md").write_text(SPACED, encoding="utf-8")
    return folder


@pytest.fixture
def settings(tmp_path):
    flags = {
        "data_dir": str(tmp_path / "data"),
        "models_dir": str(tmp_path / "models"),
        "offline": True,
    }
    return load_settings(environ={}, flags=flags)


@pytest.fixture
def make_caller(settings, tmp_path):
    """Return a function that builds a caller of all tools."""
    pool = KebabPool()

    def make(*, read_only=False, **offered):
        tools = select_tools(**{"allow_write": True, "with_ask": True, **offered})
        config = tmp_path / "config.toml"
        return ToolCaller(
            settings, config, read_only=read_only, render=render_for_model, tools=tools, pool=pool
        )

    yield make
    pool.close()


@pytest.fixture
def empty(make_caller):
    """A caller without an index."""
    return make_caller()


@pytest.fixture
def caller(make_caller, notes):
    """A caller with two documents."""
    caller = make_caller()
    caller.run(lambda kebab: kebab.run(IngestRequest(paths=[str(notes)])))
    return caller
