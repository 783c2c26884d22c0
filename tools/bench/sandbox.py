"""Runs a command with a home of its own, and measures its time and memory."""

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kebab.platform import ProcessEnd, wait_for_end

Command: TypeAlias = Sequence[str]

_DROPPED = ("KEBAB_", "XDG_", "PYTHONDONTWRITEBYTECODE")
_SHOWN_ERROR = 300


class Outcome(NamedTuple):
    """The end of a process: seconds by the clock and of all processors, and its peak of memory."""

    status: int
    wall: float
    cpu: float
    peak_bytes: int
    err: bytes

    def describe_failure(self) -> str:
        """Return the exit status and the end of what was written to stderr."""
        return f"exit status {self.status}: {self.err.decode(errors='replace')[-_SHOWN_ERROR:]}"


def build_environment(home: Path, models: Path) -> dict[str, str]:
    """Return the environment of a person whose model folder is `models`; every call runs cold."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}
    return kept | {
        "HOME": str(home),
        "KEBAB_DATA_DIR": str(home / "data"),
        "KEBAB_MODELS_DIR": str(models),
        "KEBAB_OFFLINE": "true",
    }


def run_process(command: Command, environment: Mapping[str, str], folder: Path) -> Outcome:
    """Run a command in a folder to its end; its output is not kept."""
    with tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - the commands of this program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            env=environment,
            cwd=folder,
        )
        end = wait_for_end(process) or ProcessEnd(0)
        wall = time.perf_counter() - started
        err.seek(0)
        return Outcome(end.status, wall, end.cpu_seconds, end.peak_bytes, err.read())


def measure_disk(folder: Path) -> int:
    """Return the bytes that the files of a folder take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
