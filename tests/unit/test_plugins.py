"""What an entry point may name; `tests/unit/app/test_plugins.py` runs whole packages."""

from types import SimpleNamespace
from typing import Any

import pytest

from kebab import plugins
from kebab.config.settings import Plugins
from kebab.core.media import CitationKind, MediaType
from kebab.plugins import (
    EMBEDDERS,
    PARSERS,
    PROVIDERS,
    RULES,
    Embedding,
    EmbeddingFacts,
    Facts,
    Format,
    Plugin,
    PluginError,
    find_plugins,
    inspect_plugin,
)

PARSER: Any = SimpleNamespace(version="x-v1", parse=lambda data, path: None)
MEDIA = MediaType("application/x-x", "x", (".x",))
MODEL = EmbeddingFacts(version=1, dimension=2, window=99, languages="any")
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
        (EMBEDDERS, PARSER, "no `kebab.plugins.Embedding`"),
        (EMBEDDERS, Embedding(NOTHING, list), "no `EmbeddingFacts`"),
        (EMBEDDERS, Embedding(MODEL._replace(window=NOTHING), list), "no `EmbeddingFacts`"),
        (EMBEDDERS, Embedding(MODEL._replace(version=0), list), "positive"),
        (EMBEDDERS, Embedding(MODEL._replace(dimension=0), list), "no dimension"),
        (EMBEDDERS, Embedding(MODEL._replace(window=1), list), "too small"),
        (EMBEDDERS, Embedding(MODEL, NOTHING), "cannot be called"),
        (PROVIDERS, 7, "cannot be called"),
        (RULES, SimpleNamespace(), "no `id`"),
        (RULES, Rule, "no `check`"),
    ],
)
def test_what_is_not_of_its_group_says_why(group, found, cause):
    with pytest.raises(PluginError, match=cause):
        plugins._CHECKS[group](found)


def test_the_facts_of_each_group_are_those_of_the_object():
    assert plugins._CHECKS[PARSERS](Format(MEDIA, PARSER)) == Facts(MEDIA, "x-v1")
    assert plugins._CHECKS[EMBEDDERS](Embedding(MODEL, list)) == Facts(model=MODEL)
    assert plugins._CHECKS[PROVIDERS](list) == Facts()


def test_no_entry_point_is_read_when_plugins_are_off():
    assert find_plugins(Plugins(enabled=False), "console_scripts") == []
    assert find_plugins(Plugins(), "console_scripts")


@pytest.fixture
def site(monkeypatch, tmp_path):
    """The folder of a package whose module can be replaced."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def count_imports(monkeypatch):
    done, run = list[Plugin](), plugins._run_inspection

    def count(plugin):
        done.append(plugin)
        return run(plugin)

    monkeypatch.setattr(plugins, "_run_inspection", count)
    return done


def test_an_import_that_hangs_is_not_tried_in_every_run(monkeypatch, site):
    (site / "hangs.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(plugins, "IMPORT_S", 0.5)
    done, plugin = count_imports(monkeypatch), Plugin(PARSERS, "x", "hangs:X", "hangs", "1.0")

    for _ in range(2):
        with pytest.raises(PluginError, match="its import takes more than"):
            inspect_plugin(plugin)
    assert len(done) == 1

    with pytest.raises(PluginError, match="its import takes more than"):
        inspect_plugin(plugin, again=True)
    (site / "hangs.py").write_text("X = 7")
    with pytest.raises(PluginError, match="no `kebab"):
        inspect_plugin(plugin)


def test_facts_are_kept_until_a_file_changes_and_failures_are_not(monkeypatch, site):
    (site / "rules.py").write_text("build = print")
    done, plugin = count_imports(monkeypatch), Plugin(PROVIDERS, "x", "rules:build", "rules", "1")

    assert [inspect_plugin(plugin) for _ in range(3)] == [Facts()] * 3
    assert len(done) == 1

    (site / "rules.py").write_text("build = None # now")
    for _ in range(2):
        with pytest.raises(PluginError, match="cannot be called"):
            inspect_plugin(plugin)
    assert len(done) == 3
    (site / "cache" / "kebab" / "plugins.json").write_text("damaged")
    with pytest.raises(PluginError, match="cannot be called"):
        inspect_plugin(plugin)
