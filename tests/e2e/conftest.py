"""Real processes: `python -m kebab` in a home of its own, every line of it held to its schema."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kebab.embed.registry import MODELS
from tests.contract.conftest import load_validators
from tests.fakes import tiny_model
from tests.fakes.console import CommandResult, enter_environment, run
from tests.fakes.ollama import FakeOllama, Model, fake_ollama

ROOT = Path(__file__).parents[2]
NOWHERE = "127.0.0.1:9"
"""An address where nothing listens."""

Argument = str | bytes | Path
Line = dict[str, Any]


def lines(raw: bytes) -> list[Line]:
    """Return the objects of NDJSON; each line is one, complete and true to its schema."""
    assert raw == b"" or raw.endswith(b"\n")
    found = [json.loads(line) for line in raw.splitlines()]
    for one in found:
        load_validators()[one["schema_version"]].validate(one)
    return found


@dataclass(frozen=True)
class Outcome:
    """What a process said on both channels, and how it ended."""

    status: int
    out: bytes
    err: bytes

    @property
    def reply(self) -> Line:
        """The one object on stdout; stderr holds nothing fatal."""
        (found,) = lines(self.out)
        assert found["exit_code"] == self.status
        assert not [one for one in lines(self.err) if one["schema_version"] == "error.v1"]
        return found

    @property
    def error(self) -> Line:
        """The one error on stderr; stdout is empty."""
        assert self.out == b""
        (found,) = [one for one in lines(self.err) if one["schema_version"] == "error.v1"]
        assert found["exit_code"] == self.status
        return found


@dataclass
class Cli:
    """Runs kebab with its own data, models, settings and log."""

    folder: Path
    prefix: tuple[str, ...] = ()
    """A program that runs the command, such as one that takes the network away."""
    environment: dict[str, str] = field(default_factory=dict)
    notes: Path = Path()
    """Where the notes lie; `notes` in the folder unless another place is given."""
    own_process: bool = True
    """Whether each call is a process; it need not be one where something else is tested."""

    def __post_init__(self) -> None:
        self.notes = self.folder / "notes" if self.notes == Path() else self.notes

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def models(self) -> Path:
        return self.folder / "models"

    def write(self, name: str, text: str) -> Path:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def install_models(self) -> None:
        """Put models of random weights in place of the real ones."""
        for seed, model in enumerate(MODELS):
            tiny_model.install_model(model, self.models, seed=seed)

    def command(self, *arguments: Argument) -> list[str | bytes]:
        named = [one if isinstance(one, bytes) else str(one) for one in arguments]
        return [*self.prefix, sys.executable, "-m", "kebab", *named]

    def start(self, *arguments: Argument, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
            **options,
        )

    def __call__(self, *arguments: Argument, status: int = 0, given: bytes = b"") -> Outcome:
        """Run to the end; nothing may ever show a traceback."""
        if not self.own_process:
            return self._run_here(*arguments, status=status, given=given)
        process = self.start(*arguments, stdin=subprocess.PIPE)
        out, err = process.communicate(given, timeout=60)
        assert b"Traceback" not in out + err
        assert process.returncode == status, (arguments, out, err)
        return Outcome(status, out, err)

    def _run_here(self, *arguments: Argument, status: int, given: bytes) -> Outcome:
        with enter_environment(self.environment, self.folder):
            ran = run(*map(os.fsdecode, arguments), stdin=given)
        assert "Traceback" not in ran.out + ran.err
        assert ran.status == status, (arguments, ran)
        return Outcome(status, ran.out.encode(), ran.err.encode())

    def json(self, *arguments: Argument, given: bytes = b"") -> Line:
        return self(*arguments, "--json", given=given).reply

    def fails(self, code: str, *arguments: Argument, status: int = 2, given: bytes = b"") -> Line:
        """Run what must fail with this code; return the error."""
        error = self(*arguments, "--json", status=status, given=given).error
        assert error["code"] == code, error
        return error


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which nothing of the caller's own is seen."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    homes = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in _KINDS}
    return {
        **kept,
        **homes,
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "KEBAB_DATA_DIR": str(folder / "data"),
        "KEBAB_MODELS_DIR": str(folder / "models"),
        "KEBAB_OFFLINE": "true",
        "OLLAMA_HOST": NOWHERE,
    }


_KINDS: Sequence[str] = ("CONFIG", "DATA", "STATE", "CACHE")


def build_cli(folder: Path, notes: Path = Path()) -> Cli:
    """Return a kebab without any model, and without a network."""
    made = Cli(folder, environment=_environment(folder), notes=notes)
    made.notes.mkdir(exist_ok=True)
    return made


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A kebab without any model, and without a network."""
    return build_cli(tmp_path)


@pytest.fixture
def local(cli: Cli) -> Cli:
    """The same; its calls run in this process, to save time."""
    cli.own_process = False
    return cli


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A kebab that has read the sample notes, by words alone; not to be changed."""
    folder = tmp_path_factory.mktemp("ingested")
    made = Cli(folder, environment=_environment(folder))
    shutil.copytree(ROOT / "samples" / "notes", made.notes)
    assert made.json("ingest", made.notes)["errors"] == 0
    return made


@pytest.fixture
def library(ingested: Cli, tmp_path: Path) -> Cli:
    """A kebab of its own over the sample notes, which stay where they were read."""
    shutil.copytree(ingested.data, tmp_path / "data")
    return Cli(tmp_path, notes=ingested.notes, environment=_environment(tmp_path))


@pytest.fixture
def in_process(library: Cli) -> None:
    """Run the calls of the library in this process, to save time."""
    library.own_process = False


@pytest.fixture
def server(library: Cli) -> Iterator[FakeOllama]:
    """An Ollama that the library asks."""
    with fake_ollama("gemma3:4b", Model(name="embed:latest", capabilities=("embedding",))) as made:
        library.environment["OLLAMA_HOST"] = made.url
        yield made


@pytest.fixture
def inside(library: Cli) -> Callable[..., CommandResult]:
    """Run a command line over the sample notes in this process, to save time."""

    def ran(*arguments: str, stdin: bytes = b"", **environ: str) -> CommandResult:
        with enter_environment({**library.environment, **environ}, library.folder):
            return run(*arguments, stdin=stdin)

    return ran


@pytest.fixture
def read_lines() -> Callable[[bytes], list[Line]]:
    """What reads NDJSON and holds every line to its schema."""
    return lines
