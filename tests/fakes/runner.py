"""A twin of the process runner: answers commands without starting anything."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from kebab.bench.process import Outcome

VERSION = "fastembed-minilml6-384-v1"


_TOLD: dict[str, dict[str, object]] = {
    "kebab.bench.asker": {
        "first": [5.0],
        "search": [2.0, 3.0, 4.0],
        "words": [1.0],
        "embedding": [1.5],
    },
    "kebab.bench.peak": {"peak_bytes": 500_000_000},
}


class FakeRunner:
    """Knows what kebab says to a benchmark; every process takes `seconds`."""

    def __init__(
        self,
        *,
        version: str | None = None,
        seconds: float = 0.1,
        degraded: Sequence[Mapping[str, str]] = (),
        broken: str = "",
        edited: int = 1,
    ) -> None:
        self.version = version
        self.seconds = seconds
        self.degraded = list(degraded)
        self.broken = broken
        """A word in a command that makes it fail."""
        self.edited = edited
        """How many passages an edit has embedded."""
        self.grown = 0
        self.commands: list[tuple[str, ...]] = []
        self.environments: list[dict[str, str]] = []
        self._seen: set[str] = set()

    def __call__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> Outcome:
        self.commands.append(tuple(command))
        self.environments.append(dict(environment))
        if self.broken and self.broken in command:
            return Outcome(status=2, seconds=self.seconds, err=b"error: broken on purpose\n")
        said = self._said(command, folder)
        return Outcome(
            status=0,
            seconds=self.seconds,
            peak_bytes=200_000_000,
            out=json.dumps(said).encode() if said else b"",
            err=b"import 250 typing\nimport 1500 click\n" if _told(command) else b"",
        )

    def _said(self, command: Sequence[str], folder: Path) -> dict[str, object]:
        if "ingest" in command and not _told(command):
            return self._ingested(Path(command[-2]), folder)
        if "kebab.bench.grower" in command:
            return self._grown(Path(command[3]), folder)
        for program, told in _TOLD.items():
            if program in command:
                return told
        if "search" in command:
            return {"degraded": self.degraded}
        if "kebab.bench.embedder" in command:
            return {"texts": 256, "seconds": 2.0 if "kebab" in command else 10.0}
        return _yardstick(command[2])

    def _grown(self, notes: Path, folder: Path) -> dict[str, object]:
        told = self._ingested(notes, folder)
        return {"new": told["new"], "chunks": self.grown, "embedded": self.grown}

    def _ingested(self, notes: Path, folder: Path) -> dict[str, object]:
        files = sum(1 for path in notes.rglob("note-*"))
        known = str(notes) in self._seen
        self._seen.add(str(notes))
        self.grown += 20 * files
        data = folder / "data"
        data.mkdir(exist_ok=True)
        (data / "kebab.db").write_bytes(b"x" * 4096)
        return {
            "new": 0 if known else files,
            "updated": self.edited,
            "unchanged": files if known else 0,
            "errors": 0,
            "items": [] if known else [{"chunk_count": 2}] * files,
            "embedding": {"version": self.version, "embedded": self._embedded(files, known=known)},
        }

    def _embedded(self, files: int, *, known: bool) -> int:
        if self.version is None:
            return 0
        return self.edited if known else 2 * files


def _told(command: Sequence[str]) -> bool:
    """Return whether a process tells what it imports."""
    return "_find_and_load" in command[2]


def _yardstick(program: str) -> dict[str, object]:
    """Return what a small program of the benchmark's own prints."""
    if "standard_normal" in program:
        return {"ms": [0.5, 0.6]}
    if "ThreadPoolExecutor" in program:
        return {"texts": 256, "seconds": 2.0}
    return {}
