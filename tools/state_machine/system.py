"""Runs operations on a real knowledge base with a tiny model, and reads what it contains.

`python -m tools.state_machine.system FOLDER SETTINGS STEP PATH...` ingests in a process that kills
itself at a step: the entry to or the exit from a call that writes, counted from 1.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeVar

import apsw

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.hints import build_variable_name
from kebab.errors.signal import Signal
from kebab.wire.ingest import IngestRequest
from kebab.wire.record import Reply, Request
from tests.fakes.tiny_model import install_model
from tools.fatal_writes import count_writes
from tools.state_machine.model import Key
from tools.surfaces.clients import Output, run_process
from tools.surfaces.command_lines import CommandLine
from tools.surfaces.home import build_environment
from tools.surfaces.servers import ask_warm_process, run_server

R = TypeVar("R", bound=Reply)

MODELS = (MINILM, E5_SMALL)
ROOT = Path(__file__).parents[2]
_WRITES = {
    *("add_source", "store_plans", "put_document", "update_stamp", "remove_documents"),
    *("mark_vectors", "set_value", "record_run", "checkpoint"),
    *("append", "delete", "clear", "save", "replace_vectors"),
}
_MOST_STARTS = 100
"""After so many cold calls the warm process does not start any more."""
_PASSAGES = (
    "SELECT s.name, d.path, d.doc_id, c.text FROM documents d JOIN sources s USING (source)"
    " LEFT JOIN chunks c USING (doc) ORDER BY s.name, d.path, c.ordinal"
)
Settings = Mapping[str, Any]


class System:
    """A knowledge base in a folder, which has the notes, the data and the models.

    `kept` stays open between calls, as in a server; every other call opens a new one.

    Args:
        folder: The folder, which is empty.
        models: A folder with models; they are written when it does not exist.
    """

    def __init__(self, folder: Path, models: Path) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.data = folder / "data"
        self._models = models
        self.settings: dict[str, Any] = {}
        self._kept: Kebab | None = None
        self._stack = ExitStack()
        self.notes.mkdir()
        if not models.exists():
            for model in MODELS:
                install_model(model, models)

    def open(self, *, read_only: bool = False) -> Kebab:
        """Return a new knowledge base."""
        return open_base(self.folder, self._models, self.settings, read_only=read_only)

    def run(self, request: Request[R], **options: Any) -> R:
        """Return the reply of a new knowledge base."""
        with self.open() as kebab:
            return kebab.run(request, **options)

    def run_kept(self, request: Request[R]) -> R:
        """Return the reply of the one that stays open."""
        self._kept = self._kept or self.open()
        return self._kept.run(request)

    def close(self) -> None:
        """Close the one that stays open."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def end(self) -> None:
        """Close everything, also the warm process."""
        self.close()
        self._stack.close()

    def change_settings(self, **settings: Any) -> None:
        """Use other settings from now on."""
        self.close()
        self.settings = {**self.settings, **settings}

    def make_key(self, source: str, path: str) -> Key:
        """Return the key of the model for a document."""
        name = source.removeprefix(f"{self.notes}/")
        return Key(name, f"{name}/{path}")

    def find_error(self, request: Request[Any], *, read_only: bool = False) -> str | None:
        """Return the code of the error of a request; None when it succeeds."""
        try:
            with self.open(read_only=read_only) as kebab:
                kebab.run(request)
        except Signal as fault:
            return fault.code
        return None

    def read_passages(self) -> dict[Key, tuple[str, str]]:
        """Return the id and the passages of each document."""
        found: dict[Key, tuple[str, str]] = {}
        path = str(self.data / "kebab.sqlite")
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as database:
            for source, name, doc_id, text in database.execute(_PASSAGES):
                key = self.make_key(source, name)
                found[key] = (doc_id, f"{found.get(key, ('', ''))[1]}\n{text or ''}")
        return found

    def call(self, *words: str) -> tuple[int, Any]:
        """Run a command line in a new process; return its status and the object that it prints."""
        return _read_reply(self._run_process(words, warm=False))

    def call_warm(self, *words: str) -> tuple[int, Any]:
        """Run a command line in the warm process, which is started when there is none."""
        (self.folder / "run").mkdir(mode=0o700, exist_ok=True)
        if ask_warm_process(self.folder) is None:
            environment = self._build_environment(warm=True)
            self._stack.enter_context(run_server(("serve",), environment, self.folder))
            for _ in range(_MOST_STARTS):
                self._run_process(("list",), warm=True)
                if _count_calls(self.folder):
                    break
        calls = _count_calls(self.folder)
        output = self._run_process(words, warm=True)
        assert _count_calls(self.folder) > calls, "the call ran cold"
        return _read_reply(output)

    def _build_environment(self, *, warm: bool) -> dict[str, str]:
        return {
            **build_environment(self.folder, self._models),
            **{build_variable_name(name): str(value) for name, value in self.settings.items()},
            "KEBAB_MODELS_EMBEDDING_MODEL": "auto",
            "KEBAB_DAEMON_AUTO": str(warm).lower(),
            "PYTHONPATH": str(ROOT),
        }

    def _run_process(self, words: tuple[str, ...], *, warm: bool) -> Output:
        environment = self._build_environment(warm=warm)
        return run_process(CommandLine(("--json", *words)), environment, self.folder)

    def kill(self, paths: list[str], step: int) -> bool:
        """Ingest in a process that dies at a step; return whether it died before the end."""
        words = (str(self.folder), str(self._models), json.dumps(self.settings), str(step), *paths)
        done = subprocess.run(  # noqa: S603 - this module
            [sys.executable, "-m", "tools.state_machine.system", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(done.stderr)
        return done.returncode != 0


def open_base(folder: Path, models: Path, settings: Settings, *, read_only: bool = False) -> Kebab:
    """Return a knowledge base that knows nothing of the environment of this process."""
    flags = {"data_dir": str(folder / "data"), "offline": True, **settings}
    loaded = load_settings(environ={"KEBAB_MODELS_DIR": str(models)}, flags=flags)
    return Kebab(loaded, config_path=folder / "config.toml", read_only=read_only)


def _read_reply(output: Output) -> tuple[int, Any]:
    return output.status, json.loads((output.out or output.err).splitlines()[-1])


def _count_calls(folder: Path) -> int:
    """Return how many calls the warm process of a folder has served; 0 when there is none."""
    status = ask_warm_process(folder)
    return int(status["calls"]) if status else 0


def main(arguments: list[str]) -> None:
    """Ingest, and die at the step."""
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.store.vectors import LanceVectors

    folder, models, settings, step, *paths = arguments
    stores = (SqliteWriter, LanceVectors)
    count_writes([(one, name) for one in stores for name in _WRITES & vars(one).keys()], int(step))
    with open_base(Path(folder), Path(models), json.loads(settings)) as kebab:
        kebab.run(IngestRequest(paths=paths))


if __name__ == "__main__":
    main(sys.argv[1:])
