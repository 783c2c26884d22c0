"""A child process that fetches or converts weights, watched by what it prints and writes.

Hub clients, pip and graph converters sleep, retry, print and keep hundreds of megabytes. In a
process of their own they can be timed, silenced and stopped, and what goes wrong in them comes
back as one line of text.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_REMEMBERED_LINES = 200
_LONGEST_REASON = 240
_SYSTEM_REASON = re.compile(r"\[Errno -?\d+\] ([^'\")(]+)")
_NOISE = re.compile(r"^\s*$|^\s+File |^Traceback |^\[notice\]")


def own_module(name: str) -> tuple[str, ...]:
    """Return the arguments that run one of our modules in a child."""
    return ("-P", "-m", name)


class Child:
    """One running process. Its working folder is where its files grow."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], life: str
    ) -> None:
        """Start `python ARGUMENTS` in `folder`; a line that matches `life` is a sign of life."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.started = time.monotonic()
        self.first_line: float | None = None
        self.alive = False
        self.total: int | None = None
        self._life = re.compile(life)
        self._lines: deque[str] = deque(maxlen=_REMEMBERED_LINES)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, arguments of ours
            [sys.executable, *arguments],
            cwd=folder,
            env=_environment(folder, environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches only us, and we stop the child ourselves
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Take in the lines that the process prints."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if self.first_line is None:
                self.first_line = time.monotonic()
            self._lines.append(line.rstrip())
            if match := self._life.search(line):
                self.alive = True
                size = match.groupdict().get("size")
                self.total = int(size) if size else self.total

    def status(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        status = self._process.poll()
        if status is not None:
            self._reader.join(timeout=1.0)
        return status

    def bytes_written(self) -> int:
        """Return the size of all files in the folder."""
        total = 0
        for root, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):  # a file may be renamed between listing and asking
                    total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - a hot loop
        return total

    def last_words(self, telling: Sequence[str] = ()) -> str:
        """Return the last line that says what went wrong, by the first pattern that finds one."""
        lines = [line.strip() for line in self._lines if not _NOISE.match(line)]
        for pattern in telling:
            if found := [line for line in lines if re.search(pattern, line)]:
                return _brief(found[-1])
        return _brief(lines[-1]) if lines else f"ended with status {self.status()}"

    def stop(self) -> None:
        """Kill the process and whatever it started."""
        if self._process.poll() is None:  # later the number may belong to another process
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(timeout=1.0)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def _brief(line: str) -> str:
    """Return the reason that the system gave, when the line quotes one, or the line's beginning."""
    reason = _SYSTEM_REASON.search(line)
    return reason[1].strip() if reason else line[:_LONGEST_REASON]


def _environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Return our environment for the child: same import path, its temporary files in its folder."""
    ours = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "TMPDIR": str(folder),
    }
    return {**os.environ, **ours, **extra}
