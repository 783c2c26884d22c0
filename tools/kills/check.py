"""Judges what a kill has left: runs what a person runs next, and compares the result."""

import os
import pickle
import select
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from kebab.core.queries import Filters
from kebab.embed.registry import MODELS
from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Signal
from kebab.server.guard import TOKEN_NAME, load_token
from kebab.store.lance import LanceTable
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.store.vectors import LanceVectors
from tests.fakes.console import CommandResult, enter_environment, run
from tests.fakes.tiny_model import install_model
from tools.home import build_environment
from tools.kills.session import (
    PUBLISHED,
    QUESTIONS,
    REMOVED,
    STEPS,
    TEAM,
    TEXT,
    TEXT_BYTES,
    age_copies,
)

FOLDERS = ("config", "data", "state", "notes", ".cursor", "base", "cache", "archive")
"""The folders of a home that are put back for each check."""
USER_FOLDERS = ("notes/", "config/", ".cursor/")
MERGED = ".cursor/mcp.json"
"""A file of another program into which an entry is merged; it has no copy."""

_DIMENSION = 384
_QUERIES = ("cat", "dog park", "bread", "sky")
_DEADLINE_S = 120.0
_UNFIT_CHECKS = ("language_model", "embedding_probe")
"""The checks of doctor that fail here in any case: there is no server, and the model is a toy."""
_ORDER = [step.name for step in STEPS]
_DOCUMENTS = """
    SELECT s.kind, d.path, d.title, a.content_hash FROM documents AS d
    JOIN sources AS s USING (source) JOIN assets AS a USING (asset) ORDER BY 1, 2
"""
_CHUNKS = """
    SELECT c.key, d.path, c.ordinal, c.heading_path, c.text, v.state FROM chunks AS c
    JOIN documents AS d USING (doc) JOIN vectors AS v USING (key)
"""
_TURNS = "SELECT turn, question, answer FROM turns ORDER BY session, turn"

Library = dict[str, Any]


@dataclass(slots=True)
class Verdict:
    """What is wrong, how much the next run embedded, and what doctor said before it."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    embedded: int = 0
    doctor: str = ""
    has_review: bool = False
    library: Library = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """Everything that is wrong."""
        return [*self.lost, *self.doubled, *self.wrong]


class Situation(NamedTuple):
    """What a person had when the power was cut or the process was killed.

    Args:
        step: The step of the session.
        before: The files of the person when the step began.
        after: The same when it has ended.
        previous: Those when the step before it had ended.
    """

    step: str
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    previous: Mapping[str, bytes]


class Lab:
    """A home in a folder, with models of random weights; a check needs no start of a process.

    LanceDB is imported and not used, because its threads would not survive a fork.
    """

    def __init__(self, folder: Path) -> None:
        warnings.filterwarnings("ignore", "lancedb fork support")
        self.home = folder / "home"
        self.home.mkdir()
        models = folder / "models"
        for number, model in enumerate(MODELS):
            install_model(model, models, seed=number)
        self.environ: Mapping[str, str] = {
            **build_environment(self.home),
            "KEBAB_MODELS_DIR": str(models),
            "KEBAB_MODELS_EMBEDDING_THREADS": "1",
        }
        self._clean: dict[object, Library] = {}
        # What the forks would import one after another is imported once.
        for name in run_apart(self._list_modules):
            with suppress(ImportError):
                import_module(name)
        self.clear()

    def _list_modules(self) -> list[str]:
        """Return the modules that a check imports."""
        self._run_clean(
            {"notes/a.md": b"# A\n\nThe cat sleeps.\n"}, MODELS[0].version, has_text=False
        )
        with enter_environment(self.environ, self.home):
            self._look(Verdict())
        return [*sys.modules]

    def clear(self) -> None:
        """Remove what the last check has left."""
        os.chdir("/")
        for name in FOLDERS:
            shutil.rmtree(self.home / name, ignore_errors=True)

    def check(self, situation: Situation) -> Verdict:
        """Run what a person runs next in the home as it is, and judge."""
        try:
            verdict: Verdict = run_apart(lambda: self._run_next(situation))
        except RuntimeError as error:
            return Verdict(wrong=[str(error)])
        if not verdict.faults:
            self._compare(situation, verdict)
        return verdict

    def _run_next(self, situation: Situation) -> Verdict:
        verdict = Verdict(lost=list(_find_lost_files(self.home, situation)))
        with enter_environment(self.environ, self.home):
            verdict.doctor = list_findings(self._look(verdict))
            for line in ((str(self.home / "notes"),), ()):
                ended = run("ingest", *line, "--json")
                if ended.status:
                    verdict.wrong.append(f"ingest ends with {ended.status}: {ended.err[-600:]}")
                    return verdict
                report = ended.reply
                verdict.embedded += report["embedding"]["embedded"]
                if report["errors"] or report["embedding"]["pending"]:
                    verdict.wrong.append(f"ingest leaves something undone: {ended.out[-600:]}")
            findings = list_findings(run("doctor", "--json"))
            self._check_published(verdict)
        verdict.library = describe_library(self.home / "data")
        if findings:
            verdict.wrong.append(f"doctor after the next ingest: {findings}")
        return verdict

    def _check_published(self, verdict: Verdict) -> None:
        """Publish again, and note a fault when a reader finds other passages than the publisher."""
        base = self.home / "base"
        if not base.exists():
            return
        begun = (base / "base.json").exists()
        reader = ("--data-dir", PUBLISHED.replace("HOME", str(self.home)))
        before = run(*reader, "search", "cat", "--json")
        if begun and before.status not in (0, 1):
            verdict.wrong.append(f"a reader ends with {before.status}: {before.err[-300:]}")
        published = run("publish", str(base), "--json")
        age_copies(self.home)
        added = run("source", "add", str(base), "--name", TEAM, "--json")
        words = ("search", "cat", "--json", "-n", "100")  # all: the order of far ones may differ
        lines = ((*reader, *words), (*words, "--base", TEAM), (*words, "--base", "local"))
        found = [run(*line) for line in lines]
        if any(one.status for one in (published, added, *found)):
            faults = [one.err[-300:] for one in (published, added, *found)]
            verdict.wrong.append(f"not published: {faults}")
            return
        copied, listed, own = ({hit["chunk_id"] for hit in one.reply["hits"]} for one in found)
        if not copied == listed == own:
            counts = (len(copied), len(listed), len(own))
            verdict.wrong.append(f"readers find {counts[:2]} passages, not {counts[2]}")

    def _look(self, verdict: Verdict) -> CommandResult:
        """Read the home as it is: every answer is a result or an error of the catalogue."""
        health = run("doctor", "--json")
        for line in (("doctor",), ("search", "cat"), ("list",), ("session", "list")):
            ended = run(*line, "--json")
            if ended.status not in (0, 1, 2, 3) or '"code":"generic"' in ended.err:
                verdict.wrong.append(f"{line}: {ended.status} {ended.err[-300:]}")
        reviews = SqliteReviewStore(self.home / "data", read_only=True, wait_s=0)
        with closing(reviews), reviews.read() as database:
            runs = database and database.execute("SELECT count(*) FROM runs").get
            verdict.has_review |= bool(runs)
        state = self.home / "state" / "kebab"
        if (state / TOKEN_NAME).exists():
            try:
                load_token(state)
            except Signal as signal:
                verdict.wrong.append(f"the token: {signal.details()}")
        return health

    def _compare(self, situation: Situation, verdict: Verdict) -> None:
        """Compare the library with that of a clean run over the same files."""
        found = verdict.library
        has_text = any(kind == "stdin" for kind, *_ in found["documents"])
        notes = {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in self.home.glob("notes/**/*.md")
        }
        expected = self._find_clean(notes, found["version"], has_text=has_text)
        kept = {
            "text": has_text,
            "ask": len(found["turns"]) == len(QUESTIONS),
            "model": found["version"] == MODELS[0].version,
            "review": verdict.has_review,
        }
        at, end = _ORDER.index(situation.step), _ORDER.index("reset")
        done = [step for step in kept if _ORDER.index(step) < at < end]
        verdict.lost += [f"what `{step}` has stored" for step in done if not kept[step]]
        if found["turns"] and at < _ORDER.index("ask"):
            verdict.doubled.append(f"turns from nowhere: {found['turns']}")
        _compare_libraries(expected, found, verdict)
        self._check_work(situation, verdict)

    def _check_work(self, situation: Situation, verdict: Verdict) -> None:
        """Note a fault when texts were embedded again whose vectors an earlier run has stored."""
        found = verdict.library
        notes = {
            name: data
            for name, data in situation.previous.items()
            if name.startswith("notes/") and name.endswith(".md")
            if not (situation.step == "rm" and name in REMOVED)
        }
        if situation.step == "reset" or not notes:
            return
        before = self._find_clean(notes, found["version"], has_text=False)
        known = {text for _, _, _, text, _ in before["chunks"]}
        if situation.step == "model":
            known = set()  # another model embeds every passage again
        new = [text for _, _, _, text, _ in found["chunks"] if text not in known]
        if verdict.embedded > len(new):
            verdict.wrong.append(f"embedded {verdict.embedded} for {len(new)} new texts")

    def _find_clean(self, notes: Mapping[str, bytes], version: str, *, has_text: bool) -> Library:
        """Return the library of a clean run over some notes."""
        key = (tuple(sorted(notes.items())), version, has_text)
        if key not in self._clean:
            self.clear()
            self._clean[key] = run_apart(lambda: self._run_clean(notes, version, has_text=has_text))
        return self._clean[key]

    def _run_clean(self, notes: Mapping[str, bytes], version: str, *, has_text: bool) -> Library:
        model = next(model.name for model in MODELS if model.version == version)
        for name, data in notes.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_bytes(data)
        environ = {**self.environ, "KEBAB_MODELS_EMBEDDING_MODEL": model}
        with enter_environment(environ, self.home):
            assert run("ingest", str(self.home / "notes")).status == 0
            if has_text:
                assert run("ingest", "--stdin", "--title", TEXT, stdin=TEXT_BYTES).status == 0
        return describe_library(self.home / "data")


def run_apart(work: Callable[[], Any]) -> Any:
    """Return what a function returns in a fork of this process, which leaves nothing behind.

    Raises:
        RuntimeError: The fork ended without a result, or took too long.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(reading)
            data = pickle.dumps(work())
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], _DEADLINE_S)
        if not ready:
            os.kill(pid, signal.SIGKILL)
        data = pipe.read()
    _, ended = os.waitpid(pid, 0)
    if ended:
        raise RuntimeError(f"a check ended with {os.waitstatus_to_exitcode(ended)}")
    return pickle.loads(data)  # noqa: S301 - of our own fork


def describe_library(data: Path) -> Library:
    """Return what a knowledge base holds, free of ids, keys and times."""
    try:
        with SqliteReader(data) as reader:
            chunks: list[Any] = reader.database.execute(_CHUNKS).fetchall()
            names = {int(key): (str(path), int(ordinal)) for key, path, ordinal, *_ in chunks}
            version = reader.get_value("embedding_version")
            found: Library = {
                "documents": reader.database.execute(_DOCUMENTS).fetchall(),
                "chunks": sorted(rest for _, *rest in chunks),
                "turns": reader.database.execute(_TURNS).fetchall(),
                "version": version,
                "words": [
                    sorted((round(score, 5), names[key]) for key, score in scores)
                    for scores in (reader.search_lexical(one, Filters(), 50) for one in _QUERIES)
                ],
            }
    except NotIndexed:
        return {}
    return {**found, **(_describe_vectors(data, version, names) if version else {})}


def _describe_vectors(
    data: Path, version: str, names: Mapping[int, tuple[str, int]]
) -> dict[str, Any]:
    """Return what the table holds, and what a search of the mapped files finds."""
    import numpy as np

    vectors = LanceVectors(data, version, _DIMENSION)
    rows = (
        [
            (names.get(key, ("", key)), sha256(vector.tobytes()).hexdigest()[:12])
            for key, vector in zip(*LanceTable(vectors.path, _DIMENSION).read(), strict=True)
        ]
        if vectors.path.exists()
        else []
    )
    probe = np.ones(_DIMENSION, np.float32) / np.sqrt(np.float32(_DIMENSION))
    index = vectors.load_index()
    near = [key for key, _ in index.find_nearest(probe, len(names) + 100)] if index else []
    folder = data / "lance"
    return {
        "rows": sorted(rows),
        "mapped": sorted(names.get(key, ("", key)) for key in vectors.list_keys()),
        "near": sorted(names.get(key, ("", key)) for key in near),
        "tables": sorted(path.name for path in folder.glob("*.lance")),
    }


def list_findings(health: CommandResult) -> str:
    """Return the warnings and failures of doctor that a person would see."""
    return "; ".join(
        f"{one['name']}: {one['status']}: {one['summary']}"
        for line in health.events
        for one in line["checks"]
        if one["status"] in ("fail", "warn") and one["name"] not in _UNFIT_CHECKS
    )


def _find_lost_files(home: Path, situation: Situation) -> Sequence[str]:
    """Return which files of the person are lost, or are neither the old nor the new ones."""
    faults = []
    for name in situation.before.keys() & situation.after.keys():
        path, before = home / name, situation.before[name]
        beside = [one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file()]
        if not path.is_file():
            faults.append(f"a file of the person: {name}")
        elif path.read_bytes() not in (before, situation.after[name]):
            faults.append(f"the content of {name}: {path.read_bytes()[:60]!r}")
        elif name != MERGED and before not in beside:
            faults.append(f"the original of {name}")
    return faults


def _compare_libraries(expected: Library, found: Library, verdict: Verdict) -> None:
    """Note what a library lacks, what it has twice, and what is wrong in another way."""
    for name in sorted(expected.keys() | found.keys()):
        wanted, given = expected.get(name), found.get(name)
        if name == "turns" or wanted == given:
            continue
        if not isinstance(wanted, list) or not isinstance(given, list):
            verdict.wrong.append(f"{name}: {wanted} became {given}")
            continue
        lost = [one for one in wanted if one not in given]
        more = [one for one in given if one not in wanted]
        if lost:
            verdict.lost.append(f"{name}: {len(lost)} of {len(wanted)}: {lost[:2]}")
        if more or len(given) > len(wanted):
            verdict.doubled.append(f"{name}: {len(given)} for {len(wanted)}: {more[:2]}")
