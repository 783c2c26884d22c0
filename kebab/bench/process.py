"""Runs one process to its end and tells how long it took and how much memory it held.

A child is charged at least with the memory of the process that starts it, so nothing heavy may be
imported into the benchmark itself.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a process did. `peak_bytes` is the most memory it held at once."""

    status: int
    seconds: float
    peak_bytes: int = 0
    out: bytes = b""
    err: bytes = b""


class Runner(Protocol):
    """Runs a command in a folder with this environment and no other."""

    def __call__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> Outcome:
        """Return what the process did."""


def run_process(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Outcome:
    """Run a command and return what it did; its output goes into files, so it never waits."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, or `cp`
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
        )
        with ExitStack() as undo:
            undo.callback(process.wait)
            undo.callback(process.kill)
            _, status, usage = os.wait4(process.pid, 0)
            undo.pop_all()
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Outcome(
            status=process.returncode,
            seconds=seconds,
            peak_bytes=usage.ru_maxrss * _RSS_UNIT,
            out=out.read(),
            err=err.read(),
        )
