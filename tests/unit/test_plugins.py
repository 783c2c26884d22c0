"""What an entry point may name; `tests/unit/test_plugins_packages.py` runs whole packages."""

from types import SimpleNamespace
from typing import Any

import pytest

from kebab import plugins
from kebab.config.settings import Plugins
from kebab.core.media import CitationKind, MediaType
from kebab.plugins import (
    PARSERS,
    RULES,
    Facts,
    Format,
    Plugin,
    PluginError,
    find_plugins,
    inspect_plugin,
)

PARSER: Any = SimpleNamespace(version="x-v1", parse=lambda data, path: None)
MEDIA = MediaType("application/x-x", "x", (".x",))
NOTHING: Any = None
MEDIA_LESS, PARSERLESS = Format(NOTHING, PARSER), Format(MEDIA, NOTHING)
VERSIONLESS = Format(MEDIA, PARSER.__class__(parse=list))


class Rule:
    """Finds x."""

    id, kind, severity, example = "x", "x", "warning", "x"
    check = None


@pytest.mark.parametrize(
    ("group", "found", "cause"),
    [
        (PARSERS, PARSER, "no `kebab.plugins.Format`"),
        (PARSERS, MEDIA_LESS, "no `MediaType`"),
        (PARSERS, Format(MEDIA._replace(name="x"), PARSER), "no media type"),
        (PARSERS, Format(MEDIA._replace(suffixes=(".X",)), PARSER), "not lower"),
        (PARSERS, Format(MEDIA._replace(suffixes=()), PARSER), "not lower"),
        (PARSERS, Format(MEDIA._replace(suffixes=("x",)), PARSER), "no dot"),
        (PARSERS, Format(MEDIA._replace(cites=CitationKind.CODE), PARSER), "as code"),
        (PARSERS, PARSERLESS, "no `parse`"),
        (PARSERS, VERSIONLESS, "no `version`"),
        (RULES, SimpleNamespace(), "no `id`"),
        (RULES, Rule, "no `check`"),
    ],
)
def test_what_is_not_of_its_group_says_why(group, found, cause):
    with pytest.raises(PluginError, match=cause):
        plugins._CHECKS[group](found)


def test_the_facts_of_each_group_are_those_of_the_object():
    assert plugins._CHECKS[PARSERS](Format(MEDIA, PARSER)) == Facts(MEDIA, "x-v1")


def test_no_entry_point_is_read_when_plugins_are_off():
    assert find_plugins(Plugins(enabled=False), "console_scripts") == []
    assert find_plugins(Plugins(), "console_scripts")


def test_an_import_that_ends_the_process_is_a_fault_of_the_plugin(monkeypatch, tmp_path):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(PluginError, match="SystemExit: 3"):
        inspect_plugin(Plugin(PARSERS, "x", "leaves:X", "leaves", "1.0"))
