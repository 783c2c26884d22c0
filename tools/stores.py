"""Replaces, cuts off and deletes stores under a warm process, and compares warm and cold answers.

`python -m tools.stores --count 200` builds libraries that have the same corpus revision (another
library, and two copies of one that went on different ways), and an older copy. Each step puts one
of them into the data folder, lets the warm process open it, then changes files in one of the ways
of `CHANGES`, and calls again. The expected answer is that of a process of its own on the same
bytes. With installed weights (`KEBAB_MODELS_DIR`) the libraries have vectors.
"""

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw

from tools.kills.warm import Experiment

CALLS: tuple[tuple[str, ...], ...] = (
    ("search", "sourdough", "--json"),
    ("search", "how long does the dough rest", "--json"),
    ("search", "no such words at all", "--json"),
    ("list", "--json"),
    ("grep", "water", "--json"),
    ("ask", "--extractive", "what does sourdough need", "--json"),
    ("fetch", "bread.md", "--json"),
    ("inspect", "bread.md", "--json"),
    ("schema", "--json"),
    ("search", "sourdough"),
)
_HEARTBEAT = re.compile(rb'^.*"type":"heartbeat".*\n', re.MULTILINE)
LIBRARIES = ("first", "other", "older", "branch")
_CHANGING = re.compile(
    rb'"(timestamp|\w+_ms|correlation_id|trace_id|checked_at|created_at)"'
    rb':("[^"]*"|[\d.]+|null|\{[^}]*\})'
)
_DATABASE = "kebab.sqlite"
_PAGE = 4096


def _find_vectors(data: Path) -> Path:
    return next(iter(sorted(data.glob("lance/*.keys"))), data / "lance/none.keys")


def _find_data(data: Path) -> Path:
    return next(data.glob("lance/*.lance/data/*"), data / "lance/none.lance")


def _cut(path: Path, share: float) -> None:
    if path.is_file():
        os.truncate(path, int(path.stat().st_size * share))


def _write_over(path: Path, data: bytes, *, keeps_time: bool = False) -> None:
    """Write into the file that is there, so that its device and number stay."""
    if not path.is_file():
        return
    status = path.stat()
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
    if keeps_time:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _spoil(path: Path, start: int, *, keeps_time: bool = True) -> None:
    """Replace all bytes from a place on by others; the size stays."""
    if path.is_file():
        data = path.read_bytes()
        noise = bytes(byte ^ 0x5A for byte in data[start:])
        _write_over(path, data[:start] + noise, keeps_time=keeps_time)


CHANGES: Mapping[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "data folder deleted": shutil.rmtree,
    "database deleted": lambda data: (data / _DATABASE).unlink(missing_ok=True),
    "database emptied": lambda data: _cut(data / _DATABASE, 0),
    "database cut off": lambda data: _cut(data / _DATABASE, 0.5),
    "database spoiled": lambda data: _spoil(data / _DATABASE, 0),
    "pages spoiled": lambda data: _spoil(data / _DATABASE, 4 * _PAGE),
    "log deleted": lambda data: (data / f"{_DATABASE}-wal").unlink(missing_ok=True),
    "log cut off": lambda data: _cut(data / f"{_DATABASE}-wal", 0.5),
    "log spoiled": lambda data: _spoil(data / f"{_DATABASE}-wal", 0, keeps_time=False),
    "log of another library": lambda data: _write_over(
        data / f"{_DATABASE}-wal", (data.parents[1] / "branch" / f"{_DATABASE}-wal").read_bytes()
    ),
    "shared memory deleted": lambda data: (data / f"{_DATABASE}-shm").unlink(missing_ok=True),
    "shared memory cut off": lambda data: _cut(data / f"{_DATABASE}-shm", 0),
    "vectors deleted": lambda data: _find_vectors(data).unlink(missing_ok=True),
    "vectors emptied": lambda data: _cut(_find_vectors(data), 0),
    "vectors cut off": lambda data: _cut(_find_vectors(data), 0.5),
    "header of vectors spoiled": lambda data: _spoil(_find_vectors(data), 0),
    "vectors spoiled": lambda data: _spoil(_find_vectors(data), 64),
    "data of vectors cut off": lambda data: _cut(_find_data(data), 0.5),
    "data of vectors spoiled": lambda data: _spoil(_find_data(data), 64),
    "table of vectors deleted": lambda data: [*map(shutil.rmtree, data.glob("lance/*.lance"))],
}
"""The ways to change a data folder."""


def replace_by_copy(source: Path, data: Path) -> None:
    """Delete the data folder, and copy another one to its place."""
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(source, data)


def replace_by_move(source: Path, data: Path) -> None:
    """Move a copy of another data folder to the place of the present one."""
    draft, old = data.with_name("draft"), data.with_name("old")
    shutil.copytree(source, draft)
    if data.exists():
        data.rename(old)
    draft.rename(data)
    shutil.rmtree(old, ignore_errors=True)


def write_over(source: Path, data: Path) -> None:
    """Write the files of another data folder over the present ones, and delete all others."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for path in [path for path in data.rglob("*") if path.is_file()]:
        if path.relative_to(data) not in wanted:
            path.unlink()
    for name in sorted(wanted):
        target = data / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        _write_over(target, (source / name).read_bytes())
        shutil.copystat(source / name, target)


WAYS = (replace_by_copy, replace_by_move, write_over)
"""The ways to put another library into a data folder."""


class Outcome(NamedTuple):
    """What happened."""

    steps: int
    warm_answers: int
    changes: dict[str, int]
    """How often each change was made."""
    faults: list[str]


def main() -> int:
    """Run the experiment; return 1 when an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="the number of steps")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ks-") as folder:
        outcome = run_changes(Path(folder), options.count, options.seed)
    print(json.dumps(outcome._asdict(), ensure_ascii=False))  # noqa: T201 - the report
    return bool(outcome.faults)


def run_changes(folder: Path, count: int, seed: int) -> Outcome:
    """Make `count` changes; `folder` has a short path and is empty."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    models = {name: os.environ[name] for name in ("KEBAB_MODELS_DIR",) if name in os.environ}
    experiment = Experiment(folder, seed, models)
    data = folder / "data" / "kebab"
    build_libraries(folder, data, lambda *words: experiment.run(words, warm=False).returncode)
    done: Counter[str] = Counter()
    answers = 0
    faults: list[str] = []

    def answer(words: Sequence[str], *, warm: bool) -> tuple[int, bytes, bytes]:
        call = experiment.run(words, warm=warm)
        return call.returncode, _drop_changing(call.stdout), _drop_changing(call.stderr)

    for step in range(count):
        library, way = chance.choice(LIBRARIES), chance.choice(WAYS)
        change, words = chance.choice([*CHANGES]), chance.choice(CALLS)
        way(folder / library, data)
        if chance.random() < 0.8:  # noqa: PLR2004 - so that most changes meet open files
            answer(chance.choice(CALLS), warm=True)
        CHANGES[change](data)
        kept = folder / "kept"
        if data.exists():
            shutil.copytree(data, kept)
        before = experiment.warm_calls
        found = answer(words, warm=True)
        answers += experiment.warm_calls - before
        shutil.rmtree(data, ignore_errors=True)
        if kept.exists():
            kept.rename(data)
        expected = answer(words, warm=False)
        done[change] += 1
        if found != expected:
            where = f"{step}: {library}, {way.__name__}, {change}, {' '.join(words)}"
            faults.append(f"{where}: {found} instead of {expected}")
    experiment.stop()
    return Outcome(count, answers, dict(sorted(done.items())), faults + experiment.faults)


def _drop_changing(output: bytes) -> bytes:
    return _CHANGING.sub(rb'"\1":0', _HEARTBEAT.sub(b"", output))


def build_libraries(folder: Path, data: Path, run: Callable[..., int]) -> None:
    """Build the libraries of `LIBRARIES` as folders; `run` runs a command line."""
    notes = folder / "notes"

    def ingest(**texts: str) -> None:
        for name, text in texts.items():
            (notes / f"{name}.md").write_text(text, "utf-8")
        if status := run("ingest", str(notes)):
            raise RuntimeError(f"ingest ended with {status}")

    ingest(
        bread="# Bread\n\nSourdough needs time, flour and water.\n",
        rye="# Rye\n\nRye dough rests for a night.\n",
    )
    data.rename(folder / "older")
    for name, text in (("first", "for two days"), ("branch", "in the cold cellar, with salt")):
        replace_by_copy(folder / "older", data)
        # A reader keeps the changes in the log.
        with closing(apsw.Connection(str(data / _DATABASE))) as reader:
            reader.execute("BEGIN").execute("SELECT count(*) FROM documents").fetchall()
            ingest(bread=f"# Bread\n\nSourdough rests {text}, and needs water.\n")
            shutil.copytree(data, folder / name)
        shutil.rmtree(data)
    ingest(
        bread="# Bread\n\nThis bakery sells no sourdough, but water.\n",
        rye="# Rye\n\nWhite dough rests for ten minutes.\n",
    )
    ingest(rye="# Rye\n\nWhite dough rests for five minutes in water.\n")
    data.rename(folder / "other")


if __name__ == "__main__":
    sys.exit(main())
