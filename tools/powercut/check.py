"""Puts a disk back after a cut, runs what a person runs next, and judges the result."""

import json
import os
import pickle
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from kebab.core.queries import Filters
from kebab.errors.catalog import NotIndexed
from kebab.store.lance.engine import LanceTable
from kebab.store.lance.vectors import LanceVectors
from kebab.store.sqlite.reader import SqliteReader
from tests.fakes.console import CommandResult, run
from tools.powercut.disk import State

_DIMENSION = 384
_QUERIES = ("cat", "dog park", "bread", "sky")
_DEADLINE_S = 120.0
_AGE_NS = 3600 * 10**9
"""How long ago a file was written whose time nobody has asked for."""
_UNFIT_CHECKS = ("language_model", "embedding_probe")
"""The checks of doctor that fail here in any case: there is no server, and the model is a toy."""
_FOLDERS = ("config", "data", "state", "notes", ".cursor")
_DOCUMENTS = """
    SELECT s.kind, d.path, d.title, a.content_hash FROM documents AS d
    JOIN sources AS s USING (source) JOIN assets AS a USING (asset) ORDER BY 1, 2
"""
_CHUNKS = """
    SELECT c.key, d.path, c.ordinal, c.heading_path, c.text, v.state FROM chunks AS c
    JOIN documents AS d USING (doc) JOIN vectors AS v USING (key)
"""
_TURNS = "SELECT session, turn, question, answer FROM turns ORDER BY session, turn"

Library = dict[str, Any]


@dataclass(slots=True)
class Verdict:
    """What is wrong after a cut, and how much the next run had to do."""

    faults: list[str] = field(default_factory=list)
    embedded: int = 0
    library: Library = field(default_factory=dict)
    doctor: str = ""


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file of the person: what it held before kebab came to it, and what it may hold now."""

    before: bytes
    allowed: frozenset[bytes]
    is_copied: bool
    """Whether what it held before must be there in any case, if only in a copy beside it."""


def describe_library(data: Path) -> Library:
    """Return what a knowledge base holds, free of ids, keys and times."""
    try:
        with SqliteReader(data) as reader:
            chunks = list(reader.connection.execute(_CHUNKS))
            names = {int(key): (path, ordinal) for key, path, ordinal, *_ in chunks}
            version = reader.get_value("embedding_version")
            found: Library = {
                "documents": list(reader.connection.execute(_DOCUMENTS)),
                "chunks": sorted(rest for _, *rest in chunks),
                "turns": list(reader.connection.execute(_TURNS)),
                "dirty": reader.get_value("vectors_dirty"),
                "garbage": list(reader.connection.execute("SELECT key FROM vector_garbage")),
                "version": version,
                "next": reader.get_value("next_vectors"),
                "words": [
                    sorted(
                        (round(score, 5), names[key])
                        for key, score in reader.search_lexical(word, Filters(), 50)
                    )
                    for word in _QUERIES
                ],
            }
    except NotIndexed:
        return {}
    return {**found, **(_describe_vectors(data, str(version), names) if version else {})}


def _describe_vectors(
    data: Path, version: str, names: Mapping[int, tuple[str, int]]
) -> dict[str, Any]:
    table, vectors = LanceTable(data, version, _DIMENSION), LanceVectors(data, version, _DIMENSION)
    rows = [
        (names.get(key, ("", key)), sha256(vector.tobytes()).hexdigest()[:12])
        for keys, matrix in (table.iterate_batches() if table.exists() else ())
        for key, vector in zip(keys.tolist(), matrix, strict=True)
    ]
    mapped = [names.get(key, ("", key)) for key in vectors.list_keys()]
    near = [key for key, _ in vectors.find_nearest(_build_probe(), 200)]
    return {
        "rows": sorted(rows),
        "mapped": sorted(mapped),
        "near": sorted(names.get(key, ("", key)) for key in near),
        "tables": sorted(path.name for path in (data / "lance").iterdir()),
    }


def _build_probe() -> Any:
    import numpy as np

    return np.ones(_DIMENSION, np.float32) / np.sqrt(np.float32(_DIMENSION))


def restore(state: State, home: Path) -> None:
    """Make a home what is left on the disk."""
    for name in _FOLDERS:
        shutil.rmtree(home / name, ignore_errors=True)
    for folder in sorted(state.folders):
        (home / folder).mkdir(mode=0o700, exist_ok=True)
    for path, content in state.files.items():
        target = home / path
        with open(target, "wb", opener=_open_private) as file:  # noqa: PTH123 - with an opener
            file.write(content.read())
        mtime_ns = content.mtime_ns or time.time_ns() - _AGE_NS
        os.utime(target, ns=(mtime_ns, mtime_ns))


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


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
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
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


def judge(home: Path, files: Mapping[str, UserFile]) -> Verdict:
    """Run what a person runs after a cut, and return what is wrong."""
    verdict = Verdict()
    faults = verdict.faults
    faults += _check_files(home, files)
    data = home / "data"
    health = run("doctor", "--json")
    if health.status not in (0, 3):
        faults.append(f"doctor ends with {health.status}: {health.err[-300:]}")
    verdict.doctor = _list_findings(health)
    for line in (("search", "cat", "--json"), ("list", "--json"), ("session", "list", "--json")):
        ended = run(*line)
        if '"code":"generic"' in ended.err or ended.status not in (0, 1, 2, 3):
            faults.append(f"{line}: {ended.status} {ended.err[-300:]}")
    token = home / "state" / "kebab" / "http.token"
    if token.exists():
        faults += _try(lambda: load_token(token.parent), "token")
    for line in (("ingest", str(home / "notes")), ("ingest",)):
        ended = run(*line, "--json")
        if ended.status:
            faults.append(f"{line} ends with {ended.status}: {ended.err[-600:]}")
            return verdict
        report = ended.reply
        verdict.embedded += report["embedding"]["embedded"]
        if report["errors"] or report["embedding"]["pending"]:
            faults.append(f"the next ingest leaves something undone: {ended.out[-600:]}")
    health = run("doctor", "--json")
    verdict.library = describe_library(data)
    findings = _list_findings(health)
    if findings and not verdict.library["next"]:
        faults.append(f"doctor after the next ingest: {findings}")
    return verdict


def load_token(state: Path) -> None:
    """Read the token, as the HTTP server does."""
    from kebab.http.guard import load_token as load

    load(state)


def _try(work: Callable[[], object], name: str) -> list[str]:
    try:
        work()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return [f"{name}: {error!r}"]
    return []


def _list_findings(health: CommandResult) -> str:
    checks = [one for line in health.events for one in line["checks"]]
    return "; ".join(
        f"{one['name']}: {one['status']}: {one['summary']}"
        for one in checks
        if one["status"] in ("fail", "warn") and one["name"] not in _UNFIT_CHECKS
    )


def _check_files(home: Path, files: Mapping[str, UserFile]) -> list[str]:
    """Return which files of the person are lost or damaged."""
    faults = []
    for name, file in files.items():
        path = home / name
        beside = [one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file()]
        if not path.is_file():
            faults.append(f"user file lost: {name}")
        elif path.read_bytes() not in file.allowed:
            faults.append(f"user file damaged: {name}: {path.read_bytes()[:60]!r}")
        elif file.is_copied and file.before not in beside:
            faults.append(f"user file replaced without a copy: {name}")
    return faults


def compare(expected: Library, found: Library) -> list[str]:
    """Return where a library differs from a clean one."""
    return [
        f"{name}: {_describe_difference(expected.get(name), found.get(name))}"
        for name in sorted(expected.keys() | found.keys())
        if name != "turns" and expected.get(name) != found.get(name)
    ]


def _describe_difference(expected: Any, found: Any) -> str:
    if not isinstance(expected, list) or not isinstance(found, list):
        return f"{expected} became {found}"
    lost = [one for one in expected if one not in found]
    more = [one for one in found if one not in expected]
    return (
        f"lost {len(lost)} {lost[:2]}, more {len(more)} {more[:2]}, of {len(expected)} {len(found)}"
    )
