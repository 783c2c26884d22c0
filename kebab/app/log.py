"""The log on disk: private, bounded, one whole line at a time, whoever else writes.

A line is appended in a single write, so lines of two processes never mix. A full file moves to
`.1`, and that one to `.2`, while a lock is held; a process that still has the old file open writes
on into `.1`, and its line is found there.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_BYTES = 1_000_000
"""A file of this size is full."""

FILES = 3
"""How many files there are at most."""

LONGEST_LINE = 1_000_000
"""Bytes of the longest line; longer ones are none of ours."""

_PATIENCE_S = 0.25
_PAUSE_S = 0.01
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A link or a pipe in place of a file is never followed or waited for."""


def append(log: Path, line: bytes) -> bool:
    """Add a line; return whether it was kept. A full or closed disk is no second fault."""
    try:
        _make_private(log.parent)
        with _turn(log) as ours:
            if ours and _size(log) + len(line) >= MAX_BYTES:
                _rotate(log)
            return _write(log, line + b"\n")
    except OSError:
        return False


def lines(log: Path) -> Iterator[bytes]:
    """Yield the lines, the newest file first, so that a file that moves meanwhile is not missed.

    Raises:
        OSError: A file is there and cannot be read.
    """
    for path in _files(log):
        try:
            file = os.open(path, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            continue
        with os.fdopen(file, "rb") as opened:
            if stat.S_ISREG(os.fstat(file).st_mode):
                yield from iter(lambda read=opened.readline: read(LONGEST_LINE + 1), b"")  # type: ignore[misc]


def _files(log: Path) -> list[Path]:
    return [log, *(log.with_name(f"{log.name}.{number}") for number in range(1, FILES))]


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_mode & 0o077 and found.st_uid == os.geteuid():
        folder.chmod(0o700)


@contextmanager
def _turn(log: Path) -> Iterator[bool]:
    """Yield whether the log is ours alone; after a while of waiting it may not be."""
    lock = os.open(log.with_name(f"{log.name}.lock"), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        yield _taken(lock)
    finally:
        os.close(lock)


def _taken(lock: int) -> bool:
    import fcntl

    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


def _size(log: Path) -> int:
    try:
        return log.lstat().st_size
    except FileNotFoundError:
        return 0


def _rotate(log: Path) -> None:
    files = _files(log)
    for older, newer in zip(reversed(files), reversed(files[:-1]), strict=False):
        with suppress(FileNotFoundError):
            newer.replace(older)


def _write(log: Path, line: bytes) -> bool:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS
    file = os.open(log, flags, 0o600)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return False
        if found.st_mode & 0o077:
            os.fchmod(file, 0o600)
        if found.st_size and os.pread(file, 1, found.st_size - 1) != b"\n":
            # A line that was cut off by a full disk may spoil itself, not this one.
            line = b"\n" + line
        return os.write(file, line) == len(line)
    finally:
        os.close(file)
