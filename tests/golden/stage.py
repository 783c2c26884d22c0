"""The home that commands run in, made what it was before each of them."""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from kebab.embed.registry import MINILM
from kebab.store.sqlite.connection import get_expected_schema_version, read_migrations
from kebab.store.sqlite.sessions import SqliteSessionStore
from tests.fakes import tiny_model
from tests.fakes.console import CommandResult, environment, run
from tests.fakes.ollama import FakeOllama
from tests.fakes.session_store import turn
from tests.golden.case import Case
from tests.golden.normalised import Normaliser

NOTES = Path(__file__).resolve().parents[2] / "samples" / "notes"
GOLDEN = Path(__file__).resolve().parents[1] / "cases" / "evals"
_DATA = Path("data") / "kebab"
_DATABASE = _DATA / "kebab.sqlite"
_MODELS = Path("cache") / "kebab" / "models"


@dataclass
class Stage:
    """One home, copies of its states, and a model server."""

    folder: Path
    server: FakeOllama
    names: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def observe(self, case: Case) -> tuple[CommandResult, dict[str, Any]]:
        """Run a case; return what it did, as it is and as it is kept."""
        self._restore(case.home)
        self.server._scripts.clear()
        with pytest.MonkeyPatch.context() as patch:
            self._move_in(patch, case)
            words = [self._word(word) for word in case.words]
            with case.meets(self.home):
                self.server.enqueue(*case.says)
                ran = run(*words, stdin=case.stdin, opener=case.opener)
        assert self.server.unplayed == 0
        form = Normaliser(str(self.home))
        kept = {
            "command": case.command,
            "line": list(case.words),
            "status": ran.status,
            "stdout": form.lines(ran.events),
            "stderr": form.lines(ran.asides),
        }
        return ran, kept

    def _word(self, word: str) -> str:
        if word == "{cursor}":
            return str(run("search", "restore", "-n", "1", "--json").reply["next_cursor"])
        if word == "{chunk}":
            return str(run("search", "restore", "--json").reply["hits"][0]["chunk_id"])
        if word == "{fault}":
            return str(run("search", "", "--json").fault["correlation_id"])
        return word

    def _move_in(self, patch: pytest.MonkeyPatch, case: Case) -> None:
        wanted = {
            **environment(self.home),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "OLLAMA_HOST": self.server.url,
            "KEBAB_MODELS_EMBEDDING_THREADS": "1",
            **case.settings,
        }
        for name in set(os.environ) - set(wanted):
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        patch.chdir(self.home)

    def _restore(self, name: str) -> None:
        kept = self.folder / name
        if not kept.exists():
            self._fresh()
            _STATES[name](self)
            shutil.copytree(self.home, kept)
            return
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(kept, self.home)

    def _fresh(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(NOTES, self.home / "notes")
        shutil.copytree(GOLDEN, self.home / "golden")
        # Doctor names programs of this machine only.
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "bin" / "ollama").touch(0o755)

    def _ingest(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            self._move_in(patch, Case(command="", name="", line=()))
            ran = run("ingest", "notes", "--json")
        assert ran.status == 0, ran.err

    def empty(self) -> None:
        """Nothing but notes."""

    def words(self) -> None:
        """Notes read without a model, and a session."""
        self._ingest()
        talk = SqliteSessionStore(self.home / _DATA, 9)
        talk.add_turn(turn())
        talk.add_turn(turn(refusal="score_gate", mode="extractive", model=None))

    def vectors(self) -> None:
        """Notes read with a model."""
        tiny_model.install_model(MINILM, self.home / _MODELS)
        self._ingest()

    def nothing_in_it(self) -> None:
        """An index of no documents."""
        shutil.rmtree(self.home / "notes")
        (self.home / "notes").mkdir()
        self._ingest()

    def older(self) -> None:
        """An index that waits for a migration."""
        database = self._database()
        for script in [*read_migrations().values()][:-1]:
            database.execute(script.read_text(encoding="utf-8"))
        database.execute(f"PRAGMA user_version = {get_expected_schema_version() - 1}")
        database.close()

    def newer(self) -> None:
        """An index of a newer build."""
        self.words()
        database = self._database()
        database.execute(f"PRAGMA user_version = {get_expected_schema_version() + 1}")
        database.close()

    def damaged(self) -> None:
        """A database that is none."""
        self.words()
        (self.home / _DATABASE).write_bytes(b"nothing of the kind\n" * 500)

    def _database(self) -> apsw.Connection:
        (self.home / _DATA).mkdir(parents=True, exist_ok=True)
        return apsw.Connection(str(self.home / _DATABASE))


_STATES = {
    "empty": Stage.empty,
    "words": Stage.words,
    "vectors": Stage.vectors,
    "nothing in it": Stage.nothing_in_it,
    "older": Stage.older,
    "newer": Stage.newer,
    "damaged": Stage.damaged,
}


def format_observation(kept: dict[str, Any]) -> str:
    """Return an observation as it stands in its file."""
    return json.dumps(kept, ensure_ascii=False, indent=2) + "\n"
