"""A subprocess that downloads or converts weights, watched by its output and its files.

Hub clients, pip and graph converters sleep, retry, print and keep hundreds of megabytes. In a
subprocess they can be timed, silenced and stopped, and an error comes back as one line of text.
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

_MAX_LINES = 200
_LONGEST_REASON = 240
_SYSTEM_REASON = re.compile(r"\[Errno -?\d+\] ([^'\")(]+)")
_NOISE = re.compile(r"^\s*$|^\s+File |^Traceback |^\[notice\]")


def build_module_arguments(name: str) -> tuple[str, ...]:
    """Return the interpreter arguments that run one of kebab's modules."""
    return ("-P", "-m", name)


class ChildProcess:
    """One running Python process that writes its files to a working folder."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        answer_pattern: str,
    ) -> None:
        """Start `python ARGUMENTS` in `folder`.

        A line that matches `answer_pattern` shows that the source answers. Its group `size`, if
        there is one, is the number of bytes to come.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.started = time.monotonic()
        self.first_line: float | None = None
        self.answered = False
        self.total: int | None = None
        self._answer_pattern = re.compile(answer_pattern)
        self._lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, *arguments],
            cwd=folder,
            env=_build_environment(folder, environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches only kebab, which stops the child
        )
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if self.first_line is None:
                self.first_line = time.monotonic()
            self._lines.append(line.rstrip())
            if match := self._answer_pattern.search(line):
                self.answered = True
                size = match.groupdict().get("size")
                self.total = int(size) if size else self.total

    def poll_status(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        status = self._process.poll()
        if status is not None:
            self._reader.join(timeout=1.0)
        return status

    def count_written_bytes(self) -> int:
        """Return the size of all files in the folder."""
        total = 0
        for root, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):  # a file may be renamed between the two calls
                    total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - a hot loop
        return total

    def find_failure_reason(self, patterns: Sequence[str] = ()) -> str:
        """Return the last line that explains the failure, by the first pattern that matches."""
        lines = [line.strip() for line in self._lines if not _NOISE.match(line)]
        for pattern in patterns:
            if matching := [line for line in lines if re.search(pattern, line)]:
                return _shorten_line(matching[-1])
        return _shorten_line(lines[-1]) if lines else f"ended with status {self.poll_status()}"

    def stop(self) -> None:
        """Kill the process and its own children."""
        if self._process.poll() is None:  # later the number may belong to another process
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(timeout=1.0)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()


def _shorten_line(line: str) -> str:
    """Return the system's reason when the line quotes one, else the beginning of the line."""
    reason = _SYSTEM_REASON.search(line)
    return reason[1].strip() if reason else line[:_LONGEST_REASON]


def _build_environment(folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment: the same import path, and temporary files in the working folder."""
    ours = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "TMPDIR": str(folder),
    }
    return {**os.environ, **ours, **extra}
