"""Appends lines to a private log of bounded size, and reads them.

A line is written in a single write, so lines of two processes never mix. Under a lock, a full file
is renamed to `.1`, and `.1` to `.2`. A process that still has the old file open continues to write
to it as `.1`, and readers find its line there.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kebab.platform import hold_lock, is_private

MAX_BYTES = 1_000_000
"""The size of a full file."""

FILES = 3
"""The maximum number of files."""

MAX_LINE_BYTES = 1_000_000
"""The maximum length of a line in bytes; a longer line is not from kebab."""

_LOCK_TIMEOUT_S = 0.25


def append_line(log: Path, line: bytes) -> bool:
    """Append a line; return whether it was written. An `OSError` is ignored."""
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = log.parent.lstat()
        if (
            stat.S_ISDIR(status.st_mode)
            and status.st_uid == os.geteuid()
            and not is_private(status)
        ):
            log.parent.chmod(0o700)
        lock = log.with_name(f"{log.name}.lock")
        with hold_lock(lock, most_s=_LOCK_TIMEOUT_S) as locked:
            size = 0
            with suppress(FileNotFoundError):
                size = log.lstat().st_size
            if locked and size + len(line) >= MAX_BYTES:
                files = _list_files(log)
                for older, newer in zip(reversed(files), reversed(files[:-1]), strict=False):
                    with suppress(FileNotFoundError):
                        newer.replace(older)
            return _write(log, line + b"\n")
    except OSError:
        return False


def read_lines(log: Path) -> Iterator[bytes]:
    """Yield the lines, the newest file first, so that a file that is rotated meanwhile is read.

    Raises:
        OSError: A file exists and cannot be read.
    """
    for path in _list_files(log):
        try:
            file = _open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        with os.fdopen(file, "rb") as opened:
            if stat.S_ISREG(os.fstat(file).st_mode):
                yield from iter(lambda read=opened.readline: read(MAX_LINE_BYTES + 1), b"")  # type: ignore[misc]


def _list_files(log: Path) -> list[Path]:
    return [log, *(log.with_name(f"{log.name}.{number}") for number in range(1, FILES))]


def _open(path: Path, flags: int) -> int:
    """Open a file; neither follow a link in its place nor wait for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def _write(log: Path, line: bytes) -> bool:
    file = _open(log, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return False
        if not is_private(status):
            os.fchmod(file, 0o600)
        if status.st_size and os.pread(file, 1, status.st_size - 1) != b"\n":
            # A full disk may have cut off the last line; this line must not be joined to it.
            line = b"\n" + line
        return os.write(file, line) == len(line)
    finally:
        os.close(file)
