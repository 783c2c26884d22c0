"""The command line over a real knowledge base, offline, and the published schemas."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kebab.store.sqlite.sessions import SqliteSessionStore
from tests.fakes.console import CommandResult, environment, run
from tests.fakes.session_store import turn

ROOT = Path(__file__).resolve().parents[2]
REAL, SCRIPTED = "kebab", "tests.fakes.facade"


@cache
def load_validators() -> dict[str, jsonschema.Draft202012Validator]:
    """Return a validator for each published schema, by the `schema_version` that it describes."""
    return {
        file.name.removesuffix(".schema.json"): jsonschema.Draft202012Validator(
            json.loads(file.read_text(encoding="utf-8"))
        )
        for file in (ROOT / "docs" / "wire-schema" / "v1").glob("*.schema.json")
    }


def check_channel(text: str, *, status: int, command: str) -> list[dict[str, Any]]:
    """Return the objects of a channel, each held to its schema and to the envelope."""
    assert text == "" or text.endswith("\n")
    found = [json.loads(line) for line in text.splitlines()]
    for one in found:
        load_validators()[one["schema_version"]].validate(one)
        assert one["output_format"] == "json"
        assert one["exit_code"] in (status, None)
        assert one["command"] == command
        assert one["timestamp"].endswith("Z")
    return found


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A home with some notes that were ingested without any model."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "samples" / "notes", home / "notes")
    with pytest.MonkeyPatch.context() as patch:
        _set_environment(patch, home)
        ran = run("ingest", str(home / "notes"))
    assert ran.status == 0, ran.err
    return home


@pytest.fixture
def home(prepared, tmp_path, monkeypatch):
    """A copy of that home, to do with as a test likes."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    _set_environment(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A home in which kebab was never used."""
    _set_environment(monkeypatch, tmp_path)
    return tmp_path


@pytest.fixture
def kebab():
    """Run a command line in this process."""
    return run


@pytest.fixture
def program():
    """Run a command line as a process, over the real or the scripted knowledge base."""
    return _start_program


@pytest.fixture
def started():
    """Start a command line as a process; what still runs afterwards is ended."""
    processes = []

    def start(*arguments, module=SCRIPTED, **options):
        processes.append(subprocess.Popen(_build_line(module, arguments), cwd=ROOT, **options))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def chunk(home, kebab):
    """The id of a passage."""
    return kebab("search", "restore", "--json").reply["hits"][0]["chunk_id"]


@pytest.fixture
def talk(home):
    """A session of two turns."""
    kept = SqliteSessionStore(home / "data" / "kebab", 9)
    kept.add_turn(turn())
    kept.add_turn(turn(refusal="score_gate", mode="extractive", model=None))


def _start_program(*arguments, module=REAL, stdin=b"", **options):
    done = subprocess.run(
        _build_line(module, arguments),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=ROOT,
        **options,
    )
    return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())


def _build_line(module, arguments):
    return [sys.executable, "-m", module, *arguments]


def _set_environment(patch, home):
    wanted = environment(home)
    for name in set(os.environ) - set(wanted):
        patch.delenv(name)
    for name, value in wanted.items():
        patch.setenv(name, value)
