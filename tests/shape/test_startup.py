"""What people wait for most often loads nothing heavy."""

import os
import subprocess
import sys

import pytest

from kebab.embed.registry import MINILM
from tests.fakes.tiny_model import install_model
from tests.shape.tree import ROOT

HEAVY = {
    "charset_normalizer",
    "fastembed",
    "httpx",
    "huggingface_hub",
    "lance",
    "lancedb",
    "markdown_it",
    "mcp",
    "numpy",
    "onnxruntime",
    "pyarrow",
    "prompt_toolkit",
    "pydantic",
    "pygments",
    "pyromark",
    "ray",
    "rich",
    "tokenizers",
    "yaml",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def environment(home):
    """The environment of a person whose only files lie in `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEBAB_")}
    places = ("CONFIG", "DATA", "CACHE", "STATE")
    return {
        **kept,
        **{f"XDG_{place}_HOME": str(home / place.lower()) for place in places},
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "KEBAB_OFFLINE": "true",
    }


@pytest.fixture(scope="module")
def indexed(home, environment):
    notes = home / "notes"
    notes.mkdir()
    (notes / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", encoding="utf-8")
    install_model(MINILM, home / "cache" / "kebab" / "models")
    done = kebab(environment, "ingest", str(notes))
    assert done.returncode == 0, done.stderr
    return environment


def kebab(environment, *arguments, prelude=""):
    program = f"{prelude}\nfrom kebab.cli.main import run\nrun()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def list_loaded_modules(environment, folder, *arguments):
    """Return the exit status of a command and the modules that it imported.

    They are told by way of a file when the process leaves, by either door, since the command owns
    both channels.
    """
    record = folder / "modules.txt"
    prelude = f"""
import atexit, os, pathlib, sys
def tell():
    pathlib.Path({str(record)!r}).write_text("\\n".join(sys.modules))
def leave(status, door=os._exit):
    tell()
    door(status)
atexit.register(tell)
os._exit = leave
"""
    done = kebab(environment, *arguments, prelude=prelude)
    return done.returncode, set(record.read_text().split())


def test_a_search_by_words_imports_nothing_to_compress_compare_or_embed(indexed, tmp_path):
    _, names = list_loaded_modules(
        indexed, tmp_path, "search", "bread", "--mode", "lexical", "--json"
    )

    assert "kebab.search.engine" in names
    assert not names & {"bz2", "difflib", "lzma", "shutil", "kebab.embed"}


def list_packages(names):
    """Return the top-level packages of modules."""
    return {name.partition(".")[0] for name in names}


def test_the_entry_point_imports_no_slow_module_of_the_standard_library(environment):
    program = """
import sys
before = set(sys.modules)
from kebab.cli.main import run
print(*(set(sys.modules) - before))
"""

    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    ours = {"kebab", "kebab.cli", "kebab.cli.main"}
    assert set(done.stdout.split()) <= {"gc", *ours}


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (0, ["--help"]),
        (0, ["--version"]),
        (0, ["search", "--help"]),
        (0, ["ask", "--help"]),
        (0, ["chat", "--help"]),
        (0, ["ingest", "--help"]),
        (0, ["explain", "timeout"]),
        (2, ["search", "--no-such-flag"]),
        (3, ["search", "bread", "--json"]),
        (0, ["schema", "--json"]),
    ],
)
def test_help_and_errors_load_nothing_heavy(environment, tmp_path, status, arguments):
    environment = {**environment, "XDG_DATA_HOME": str(tmp_path)}

    found, names = list_loaded_modules(environment, tmp_path, *arguments)

    assert found == status
    assert "kebab" in names
    assert not list_packages(names) & HEAVY


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "sourdough", "--mode", "lexical"],
        ["search", "sourdough", "--mode", "lexical", "--json"],
        ["list", "--json"],
        ["schema", "--json"],
        ["grep", "Sourdough", "--json"],
        ["fetch", "bread.md:3", "--json"],
        ["outline", "--json"],
    ],
)
def test_a_lexical_search_loads_nothing_heavy(indexed, tmp_path, arguments):
    status, names = list_loaded_modules(indexed, tmp_path, *arguments)

    assert status == 0
    assert "apsw" in names
    assert not list_packages(names) & HEAVY


@pytest.mark.parametrize(
    ("most", "arguments"),
    [
        (71, ["search", "sourdough", "--json"]),
        (75, ["search", "sourdough"]),
        (66, ["search", "sourdough", "--mode", "lexical", "--json"]),
        (70, ["search", "sourdough", "--mode", "lexical"]),
        (91, ["schema", "--json"]),
    ],
)
def test_a_command_imports_few_modules_of_kebab(indexed, tmp_path, most, arguments):
    _, names = list_loaded_modules(indexed, tmp_path, *arguments)
    own = {name for name in names if name.partition(".")[0] == "kebab"}
    drawing = [name for name in own if name.startswith("kebab.cli.render.")]

    assert len(own) <= most
    assert bool(drawing) == ("--json" not in arguments)
    assert not own & {"kebab.ingest", "kebab.app.classify"}
    assert ("kebab.embed.onnx_embedder" in own) == (most in {71, 75}), "only both channels embed"
