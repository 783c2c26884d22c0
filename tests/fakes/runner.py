"""A fake process runner that answers commands without starting a process."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from kebab.bench.sandbox import Outcome

VERSION = "fastembed-minilml6-384-v1"


_WORKER = "tools.bench.workers"
_REPLIES: dict[str, dict[str, object]] = {
    "latency": {
        "first": [5.0],
        "search": [2.0, 3.0, 4.0],
        "words": [1.0],
        "embedding": [1.5],
    },
    "memory": {"peak_bytes": 500_000_000},
}


class FakeRunner:
    """Knows the replies of kebab to a benchmark; every process takes `seconds`."""

    def __init__(
        self,
        *,
        version: str | None = None,
        seconds: float = 0.1,
        degraded: Sequence[Mapping[str, str]] = (),
        broken: str = "",
        edited: int = 1,
        warm: str = "running",
    ) -> None:
        self.version = version
        self.seconds = seconds
        self.degraded = list(degraded)
        self.broken = broken
        """A word in a command that makes it fail."""
        self.edited = edited
        """How many passages an edit has embedded."""
        self.warm = warm
        """The warm process is `running`, `unknown` to the system, `slow` to start, or `idle`: it
        runs and serves no call."""
        self._served = 0
        self.chunks = 0
        self.commands: list[tuple[str, ...]] = []
        self.environments: list[dict[str, str]] = []
        self._seen: set[str] = set()

    def __call__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> Outcome:
        self.commands.append(tuple(command))
        self.environments.append(dict(environment))
        is_warm = environment.get("KEBAB_DAEMON_AUTO") == "true"
        self._served += is_warm and "search" in command and self.warm == "running"
        if self.broken and self.broken in command:
            return Outcome(status=2, seconds=self.seconds, err=b"error: broken on purpose\n")
        reply = self._build_reply(command, folder)
        return Outcome(
            status=0,
            seconds=self.seconds,
            peak_bytes=200_000_000,
            out=json.dumps(reply).encode() if reply else b"",
            err=b"import 250 typing\nimport 1500 click\n" if _profiles_imports(command) else b"",
        )

    def _build_reply(self, command: Sequence[str], folder: Path) -> dict[str, object]:
        if "ingest" in command and not _profiles_imports(command):
            return self._ingest(Path(command[-2]), folder)
        if _WORKER in command:
            program = command[3]
            if program == "index":
                return self._index(Path(command[4]), folder)
            return _REPLIES[program]
        if "tools.bench.embedding" in command:
            return {"texts": 256, "seconds": 2.0 if "kebab" in command else 10.0}
        if "serve" in command:
            worker = {"busy": self.warm == "slow"}
            socket = None if self.warm == "unknown" else "/run/kebab/1"
            return {"socket": socket, "calls": self._served, "workers": [worker]}
        return self._search(command)

    def _search(self, command: Sequence[str]) -> dict[str, object]:
        if "search" in command:
            return {"degraded": self.degraded, "timing_ms": 5.0}
        program = command[2]
        if "standard_normal" in program:
            return {"ms": [0.5, 0.6]}
        if "ThreadPoolExecutor" in program:
            return {"texts": 256, "seconds": 2.0}
        return {}

    def _index(self, notes: Path, folder: Path) -> dict[str, object]:
        report = self._ingest(notes, folder)
        return {"new": report["new"], "chunks": self.chunks, "embedded": self.chunks}

    def _ingest(self, notes: Path, folder: Path) -> dict[str, object]:
        files = sum(1 for path in notes.rglob("note-*"))
        known = str(notes) in self._seen
        self._seen.add(str(notes))
        self.chunks += 20 * files
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


def _profiles_imports(command: Sequence[str]) -> bool:
    """Return whether a process reports its imports."""
    return "_find_and_load" in command[2]
