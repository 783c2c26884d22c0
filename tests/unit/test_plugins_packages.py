"""The package of `docs/plugins.md`, installed beside kebab, and broken ones."""

import importlib
import re
import tomllib

import pytest

from tests.fakes.console import enter_environment, environment, run
from tests.shape.tree import ROOT

pytestmark = pytest.mark.xdist_group("plugins")

BROKEN = """
import os, sys
from kebab.core.documents import Block, BlockKind, ParsedDocument
from kebab.core.media import MediaType
from kebab.plugins import Format

print("noise")
os.write(1, b"noise")

class Parser:
    version = "broken-v1"

    def parse(self, data, path):
        what = data.decode().strip()
        if what == "exit":
            os._exit(7)
        if what == "raise":
            raise Exception("odd")
        if what == "print":
            print("noise " * 10_000)
        if what == "loop":
            while True:
                pass
        if what == "odd":
            return ParsedDocument(b"abc", "t", ())
        if what == "untitled":
            return ParsedDocument("abc", None, ())
        if what == "outside":
            return ParsedDocument("abc", "t", (Block(BlockKind.PARAGRAPH, 5, 99),))

FORMAT = Format(MediaType("application/x-broken", "broken", (".broken", ".md")), Parser())
PDF = Format(MediaType("application/pdf", "pdf", (".pdf",)), Parser())
"""


def install(site, name, version, module, entries):
    """Lay out a package as pip does, without what nothing reads."""
    for old in site.glob(f"{name.replace('-', '_')}-*.dist-info/*"):
        old.unlink()
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (site / f"{name.replace('-', '_')}.py").write_text(module)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, named in entries.items()
        for line in (f"[{group}]", *(f"{one} = {target}" for one, target in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    importlib.invalidate_caches()  # a plugin is installed while no process of kebab runs


def install_example(site, version="1.0"):
    page = (ROOT / "docs" / "plugins.md").read_text()
    (toml,), (module,) = (
        re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("toml", "python")
    )
    project = tomllib.loads(toml)["project"]
    install(site, project["name"], version, module, project["entry-points"])


@pytest.fixture
def site(tmp_path):
    """The folder of the packages, in a home of its own with two notes."""
    site, notes = tmp_path / "site", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.recipe").write_text("!Bread\n\nsourdough and flour\n")
    (notes / "b.md").write_text("# Note\n\nThis is GREAT! news.\n")
    more = {"PYTHONPATH": str(site), "KEBAB_INGEST_DEADLINE_S": "5"}
    with (
        enter_environment(environment(tmp_path) | more, notes),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.syspath_prepend(site)
        yield site


def kebab(*arguments):
    return run(*arguments, "--json").reply


def ingest():
    found = run("ingest", ".", "--json").events[-1]
    errors = {item["doc_path"]: item["error"] for item in found["items"] if item["kind"] == "error"}
    return found, errors


def cite(query):
    return [hit["citation"]["uri"] for hit in kebab("search", query, "--mode", "lexical")["hits"]]


def check_plugins():
    (check,) = (one for one in run("doctor", "--json").reply["checks"] if one["name"] == "plugins")
    return check


def test_the_example_of_the_page_works(site):
    install_example(site)

    report, errors = ingest()

    assert (report["new"], errors, report["plugin_faults"]) == (2, {}, [])
    assert cite("sourdough") == ["a.recipe#Bread"]
    rows = [(one["package"], one["version"]) for one in kebab("schema")["plugins"]]
    assert rows == [("kebab-recipe", "1.0")]
    assert check_plugins()["status"] == "ok"


def test_a_new_version_of_the_package_reads_its_documents_again(site):
    install_example(site)
    ingest()
    assert ingest()[0]["unchanged"] == 2

    (site / "kebab_recipe-1.0.dist-info" / "METADATA").write_text(
        "Name: kebab-recipe\nVersion: 1.1\n"
    )

    report, _ = ingest()
    assert (report["updated"], report["unchanged"]) == (1, 1)


def test_files_of_a_plugin_that_is_off_are_read_as_others_are(site, monkeypatch):
    install_example(site)
    ingest()
    monkeypatch.setenv("KEBAB_PLUGINS_ENABLED", "false")

    report, errors = ingest()

    assert (report["updated"], report["unchanged"], errors) == (1, 1, {})
    assert (cite("sourdough"), kebab("schema")["plugins"]) == (["a.recipe#L1-L3"], [])

    monkeypatch.delenv("KEBAB_PLUGINS_ENABLED")
    assert ingest()[0]["updated"] == 1
    assert cite("sourdough") == ["a.recipe#Bread"]


def test_a_broken_plugin_costs_itself_and_is_named(site):
    install_example(site)
    names = {"broken": "kebab_broken:FORMAT", "pdf": "kebab_broken:PDF", "gone": "nowhere:X"}
    names |= {"wrong": "kebab_broken:Parser", "recipe": "kebab_broken:FORMAT"}
    install(site, "kebab-broken", "2.0", BROKEN, {"kebab.parsers": names})
    files = ("exit", "raise", "print", "loop", "outside", "odd", "untitled")
    for what in files:
        (site.parent / "notes" / f"{what}.broken").write_text(what)

    # What `monkeypatch` undoes after the end of `site` would stay in the environment.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEBAB_INGEST_DEADLINE_S", "1")
        report, errors = ingest()

    assert [one["doc_path"] for one in report["items"] if one["kind"] == "new"] == [
        "a.recipe",
        "b.md",
    ]
    causes = {name: error["details"].get("cause") for name, error in errors.items()}
    assert causes["raise.broken"] == "the parser failed: odd"
    assert "returned no document" in causes["print.broken"]
    assert errors["loop.broken"]["code"] == "timeout"
    assert "a block is out of order" in causes["outside.broken"]
    assert errors.keys() == {f"{one}.broken" for one in files}
    faults = "\n".join(report["plugin_faults"])
    for told in (
        "reads .md",
        "reads application/pdf",
        "No module named",
        "no `kebab.plugins.Format`",
    ):
        assert told in faults
    assert "`recipe` of kebab-recipe 1.0: kebab-broken has a plugin of the same name" in faults
