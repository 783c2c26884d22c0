"""Contains the writer lock: only one process at a time writes to a data directory."""

import os
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

from kebab.errors.catalog import IoError, Locked
from kebab.errors.system import translate_os_errors

FILE_NAME = "writer.lock"
_RETRY_SECONDS = 0.05


class WriterLock:
    """A lock that is held from construction until `close` or garbage collection.

    Collection frees it when an interrupt keeps its holder from closing it, and the system frees it
    when the process ends. The file stays, because removing it would let two processes lock two
    files of the same name.
    """

    def __init__(self, data_dir: Path) -> None:
        """Take the lock without waiting.

        Raises:
            Locked: Another writer holds it.
            IoError: The lock file cannot be created.
        """
        self._path = data_dir / FILE_NAME
        with translate_os_errors(self._path, "create"):
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._freed = weakref.finalize(self, os.close, self._file)
        try:
            self._take()
        except (Locked, IoError):
            self._freed()
            raise

    def _take(self) -> None:
        with translate_os_errors(self._path, "write"):
            if not _try_lock(self._file):
                raise Locked(path=str(self._path), holder_pid=_read_pid(self._file))
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Free the lock; a second call does nothing."""
        if self._freed.alive:
            # The pid is only information for others; the next holder overwrites a stale one.
            with suppress(OSError):
                os.ftruncate(self._file, 0)
            self._freed()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _try_lock(file: int) -> bool:
    """Try to lock the file; a holder without a pid only inspects it, so try again once."""
    import fcntl

    for pause in (_RETRY_SECONDS, 0.0):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _read_pid(file) is not None:
                return False
            time.sleep(pause)
        else:
            return True
    return False


def _read_pid(file: int) -> int | None:
    text = os.pread(file, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdecimal() else None


def read_holder_pid(data_dir: Path) -> int | None:
    """Return the pid of the active writer, or None; create nothing."""
    import fcntl

    try:
        file = os.open(data_dir / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_pid(file)
    finally:
        os.close(file)
    return None
