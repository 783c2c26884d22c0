"""A twin of the process runner: answers commands without starting anything."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from kebab.bench.process import Outcome

VERSION = "fastembed-minilml6-384-v1"


class FakeRunner:
    """Knows what kebab says to a benchmark; every process takes `seconds`."""

    def __init__(
        self,
        *,
        version: str | None = None,
        seconds: float = 0.1,
        degraded: Sequence[Mapping[str, str]] = (),
        broken: str = "",
    ) -> None:
        self.version = version
        self.seconds = seconds
        self.degraded = list(degraded)
        self.broken = broken
        """A word in a command that makes it fail."""
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
        )

    def _said(self, command: Sequence[str], folder: Path) -> dict[str, object]:
        if "ingest" in command:
            return self._ingested(Path(command[-2]), folder)
        if "search" in command:
            return {"degraded": self.degraded}
        if "kebab.bench.embedder" in command:
            return {"texts": 256, "seconds": 2.0 if "kebab" in command else 10.0}
        return {}

    def _ingested(self, notes: Path, folder: Path) -> dict[str, object]:
        files = sum(1 for path in notes.rglob("*.md"))
        known = str(notes) in self._seen
        self._seen.add(str(notes))
        data = folder / "data"
        data.mkdir(exist_ok=True)
        (data / "kebab.db").write_bytes(b"x" * 4096)
        return {
            "new": 0 if known else files,
            "unchanged": files if known else 0,
            "errors": 0,
            "items": [] if known else [{"chunk_count": 2}] * files,
            "embedding": {"version": self.version, "embedded": 2 * files if self.version else 0},
        }
