"""Attacks exports and imports at random, and checks what is left of the knowledge base.

    python -m tools.archives --seconds 60 --seed 1

Rounds take turns. `bytes` changes an archive: it must be refused and leave nothing, or give the
same passages. `kill` kills a process that replaces one knowledge base by another: a search then
finds all of the one or all of the other. `busy` exports while files change and are ingested: every
archive must hold one state, whose documents all have their texts.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from kebab.app.facade import Kebab
from kebab.config.load import load_settings
from kebab.errors.signal import Signal
from kebab.wire.archive import ExportRequest, ImportRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import SearchRequest

EXPECTED = ("store_corrupt", "not_indexed", "too_large")
"""The codes with which a changed archive may be refused."""
_FILES = 12
_LONGEST_IMPORT_S = 1.5
"""A process is killed within this time from its start."""

Found = frozenset[tuple[str, str]]


class Attack:
    """A folder with two knowledge bases and the archive of the second one."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.rounds: Counter[str] = Counter()
        self.old, self.archive = self._build("old"), folder / "new.zip"
        new = self._build("new")
        with self.open(new) as kebab:
            kebab.run(ExportRequest(path=str(self.archive)))
        self.states = {name: self.find(folder / name) for name in ("old", "new")}

    def _build(self, name: str) -> Path:
        notes, data = self.folder / f"{name}-notes", self.folder / name
        notes.mkdir()
        for number in range(_FILES):
            self.write(notes / f"{number}.md", name, number)
        with self.open(data) as kebab:
            kebab.run(IngestRequest(paths=[str(notes)]))
        return data

    @staticmethod
    def write(path: Path, name: str, number: int) -> None:
        """Write a note that says which state it belongs to."""
        path.write_text(f"# Note {number}\n\nThis note is {name} and has {number}.\n")

    @staticmethod
    def open(data: Path) -> Kebab:
        """Return the knowledge base of a data folder."""
        flags = {"data_dir": str(data), "models_dir": str(data / "no-models"), "offline": True}
        settings = load_settings(environ={}, flags=flags)
        return Kebab(settings, config_path=data / "config.toml")

    def find(self, data: Path) -> Found:
        """Return every document and passage that a search finds."""
        with self.open(data) as kebab:
            documents = kebab.run(ListRequest()).documents
            hits = kebab.run(SearchRequest(query="note", limit=100, mode="lexical")).hits
        listed = {(one.doc_id, one.title) for one in documents}
        return frozenset(listed | {(hit.chunk_id, hit.snippet) for hit in hits})

    def change_bytes(self) -> Iterator[str]:
        """Import a changed archive; yield what is wrong."""
        data = bytearray(self.archive.read_bytes())
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(data))
            kind = self.random.choice(("flip", "cut", "insert", "zero"))
            if kind == "flip":
                data[at] ^= 1 << self.random.randrange(8)
            elif kind == "cut":
                del data[at : at + self.random.choice((1, 100, len(data)))]
            elif kind == "insert":
                data[at:at] = self.random.randbytes(self.random.choice((1, 100)))
            else:
                data[at : at + 64] = bytes(len(data[at : at + 64]))
            if not data:
                break
        changed, target = self.folder / "changed.zip", self.folder / "target"
        changed.write_bytes(data)
        try:
            with self.open(target) as kebab:
                kebab.run(ImportRequest(path=str(changed)))
        except Signal as fault:
            self.rounds[f"bytes: {fault.code}"] += 1
            left = [path.name for path in target.glob("*") if path.name != "writer.lock"]
            if fault.code not in EXPECTED or left:
                yield f"bytes: {fault.code}, left: {left}"
        else:
            self.rounds["bytes: imported"] += 1
            if self.find(target) != self.states["new"]:
                yield "bytes: a changed archive gave other passages"
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def kill(self) -> Iterator[str]:
        """Kill a process that replaces a knowledge base; yield what is wrong."""
        target = self.folder / "killed"
        shutil.copytree(self.old, target)
        line = [sys.executable, "-m", "kebab", "import", str(self.archive), "--replace", "--yes"]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "HOME": str(self.folder),
            "KEBAB_DATA_DIR": str(target),
            "KEBAB_DAEMON_AUTO": "0",
        }
        quiet = subprocess.DEVNULL
        with subprocess.Popen(line, env=environment, stdout=quiet, stderr=quiet) as process:  # noqa: S603 - fixed words
            self._wait_for_import(process, target)
            process.kill()
        found = self.find(target)
        state = next((name for name, one in self.states.items() if one == found), "neither")
        self.rounds[f"kill: {state}"] += 1
        if state == "neither":
            yield f"kill: {len(found)} documents and passages, of neither state"
        with self.open(target) as kebab:
            kebab.run(IngestRequest())
        if self.find(target) != found or (target / "import").exists():
            yield "kill: the next ingest changed the state"
        shutil.rmtree(target)

    def _wait_for_import(self, process: "subprocess.Popen[bytes]", target: Path) -> None:
        """Wait until the import has begun, then for a random time; most of it is at its end."""
        begun = target / "import"
        while process.poll() is None and not begun.exists():
            time.sleep(0.001)
        longest = self.random.choice((0.02, 0.1, _LONGEST_IMPORT_S))
        end = time.monotonic() + self.random.uniform(0, longest)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.0005)

    def export_while_busy(self) -> Iterator[str]:
        """Export while another thread edits and ingests; yield what is wrong."""
        data, notes = self._build("busy"), self.folder / "busy-notes"
        stop = Event()

        def edit() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                for name in range(_FILES):
                    self.write(notes / f"{name}.md", f"state{number}", name)
                with self.open(data) as kebab:
                    kebab.run(IngestRequest(paths=[str(notes)]))

        thread = Thread(target=edit)
        thread.start()
        try:
            for number in range(3):
                yield from self._export_and_import(data, number)
        finally:
            stop.set()
            thread.join()
            shutil.rmtree(data)
            shutil.rmtree(notes)

    def _export_and_import(self, data: Path, number: int) -> Iterator[str]:
        path, target = self.folder / f"busy-{number}.zip", self.folder / "target"
        try:
            with self.open(data) as kebab:
                manifest = kebab.run(ExportRequest(path=str(path))).manifest
            with self.open(target) as kebab:
                kebab.run(ImportRequest(path=str(path)))
                hits = kebab.run(SearchRequest(query="note", limit=100, mode="lexical")).hits
            self.rounds["busy: imported"] += 1
            if len({hit.doc_id for hit in hits}) != manifest.documents:
                yield f"busy: {len(hits)} passages of {manifest.documents} documents"
        except Signal as fault:
            yield f"busy: {fault.code}: {fault}"
        finally:
            path.unlink(missing_ok=True)
            shutil.rmtree(target, ignore_errors=True)


def main() -> int:
    """Attack for a time, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(Path(folder), options.seed)
        rounds = (attack.change_bytes, attack.kill, attack.export_while_busy)
        end, number = time.monotonic() + options.seconds, 0
        with suppress(KeyboardInterrupt):
            while time.monotonic() < end:
                faults += rounds[number % len(rounds)]()
                # The changes are cheap, so each round has many.
                for _ in range(20):
                    faults += attack.change_bytes()
                number += 1
    for name, count in sorted(attack.rounds.items()):
        sys.stdout.write(f"{count:6,}  {name}\n")
    for fault in faults:
        sys.stdout.write(f"fault: {fault}\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
