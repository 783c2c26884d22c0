"""A library that cannot be loaded costs what needs it, says so by name, and nothing else."""

import os
import shutil

import pytest

from kebab.embed.registry import E5_SMALL
from tests.e2e.conftest import build_cli
from tests.fakes import tiny_model

BREAKS = """
import os, sys
for name in os.environ.get("BROKEN", "").split():
    sys.modules[name] = None
"""


def let_imports_fail(cli):
    """Let `break_imports` decide what the process of a kebab cannot import."""
    site = cli.folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(BREAKS)
    path = cli.environment["PYTHONPATH"]
    cli.environment["PYTHONPATH"] = os.pathsep.join((str(site), path))
    return cli


def write_notes(cli):
    cli.write("cat.md", "# Cat\n\nthe cat sleeps on the mat\n")
    cli.write("dog.md", "# Dog\n\nthe dog runs in the park\n")


@pytest.fixture
def breakable(cli):
    """A kebab in whose process imports can be made to fail, with notes about a cat and a dog."""
    write_notes(cli)
    return let_imports_fail(cli)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """A kebab that has read the same notes with vectors; not to be changed."""
    made = build_cli(tmp_path_factory.mktemp("embedded"))
    made.own_process = False  # to save time
    write_notes(made)
    tiny_model.install_model(E5_SMALL, made.models)
    made.json("ingest", made.notes)
    return made


@pytest.fixture
def indexed(embedded, tmp_path):
    """The same in a folder of its own, where imports can be made to fail."""
    for name in ("data", "models"):
        shutil.copytree(embedded.folder / name, tmp_path / name)
    return let_imports_fail(build_cli(tmp_path, embedded.notes))


def break_imports(cli, *libraries):
    cli.environment["BROKEN"] = " ".join(libraries)
    return cli


@pytest.mark.parametrize(
    ("library", "package", "name", "data"),
    [
        ("apsw", "apsw", "new.md", b"words"),
        ("py_rust_stemmers", "py-rust-stemmers", "new.md", b"words"),
        ("pathspec", "pathspec", ".gitignore", b"*.log\n"),
    ],
)
def test_an_ingest_names_the_library_that_it_needs(breakable, library, package, name, data):
    (breakable.notes / name).write_bytes(data)

    error = break_imports(breakable, library).fails("dependency_missing", "ingest", breakable.notes)

    assert error["hint"] == error["details"]["install"] == f"pip install {package}"


@pytest.mark.parametrize("library", ["onnxruntime", "numpy"])
def test_a_search_by_meaning_names_the_library_and_one_by_words_goes_on(indexed, library):
    question = ("search", "cat", "--mode", "vector")

    error = break_imports(indexed, library).fails("dependency_missing", *question)
    page = indexed.json("search", "cat")

    assert error["details"]["install"].startswith("pip install ")
    assert page["hits"][0]["doc_path"] == "cat.md"
    assert [one["channel"] for one in page["degraded"]] == ["vector"]
    assert page["degraded"][0]["hint"].startswith("pip install ")


def test_without_the_folders_of_the_system_nothing_works_and_that_is_said(breakable):
    # Only what is out of order is asked of the library on every system.
    breakable.environment["XDG_CONFIG_HOME"] = "relative"

    error = break_imports(breakable, "platformdirs").fails("dependency_missing", "list")

    assert error["details"]["install"] == "pip install platformdirs"


@pytest.mark.parametrize("library", ["click", "msgspec"])
def test_what_every_command_needs_is_named_without_it(breakable, library):
    error = break_imports(breakable, library).fails("dependency_missing", "list")
    told = breakable("list", status=2)

    assert error["details"] == {
        "feature": library,
        "install": f"pip install {library}",
        "program": None,
        "cause": None,
    }
    assert told.err.decode().splitlines() == [
        f"error: cannot load the library for this feature: {library}",
        f"hint: pip install {library}",
        "code: dependency_missing",
    ]
