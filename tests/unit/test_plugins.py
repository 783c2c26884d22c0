"""What an entry point may name; `tests/unit/test_plugins_packages.py` runs whole packages."""

from types import SimpleNamespace
from typing import Any

import pytest

from kebab import plugins
from kebab.config.settings import Plugins
from kebab.core.media import CitationKind, MediaType
from kebab.plugins import (
    Facts,
    Format,
    Plugin,
    PluginError,
    check_format,
    find_plugins,
    inspect_plugin,
)

PARSER: Any = SimpleNamespace(version="x-v1", parse=lambda data, path: None)
MEDIA = MediaType("application/x-x", "x", (".x",))
NOTHING: Any = None
MEDIA_LESS, PARSERLESS = Format(NOTHING, PARSER), Format(MEDIA, NOTHING)
VERSIONLESS = Format(MEDIA, PARSER.__class__(parse=list))


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (PARSER, "no `kebab.plugins.Format`"),
        (MEDIA_LESS, "no `MediaType`"),
        (Format(MEDIA._replace(name="x"), PARSER), "no media type"),
        (Format(MEDIA._replace(suffixes=(".X",)), PARSER), "not lower"),
        (Format(MEDIA._replace(suffixes=()), PARSER), "not lower"),
        (Format(MEDIA._replace(suffixes=("x",)), PARSER), "no dot"),
        (Format(MEDIA._replace(cites=CitationKind.CODE), PARSER), "as code"),
        (PARSERLESS, "no `parse`"),
        (VERSIONLESS, "no `version`"),
    ],
)
def test_what_is_no_format_says_why(found, cause):
    with pytest.raises(PluginError, match=cause):
        check_format(found)


def test_the_facts_are_those_of_the_object():
    assert check_format(Format(MEDIA, PARSER)) == Facts(MEDIA, "x-v1")


def test_no_entry_point_is_read_when_plugins_are_off(monkeypatch):
    monkeypatch.setattr(plugins, "GROUP", "console_scripts")
    assert find_plugins(Plugins(enabled=False)) == []
    assert find_plugins(Plugins())


def test_an_import_that_ends_the_process_is_a_fault_of_the_plugin(monkeypatch, tmp_path):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(PluginError, match="SystemExit: 3"):
        inspect_plugin(Plugin("x", "leaves:X", "leaves", "1.0"))
