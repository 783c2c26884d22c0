"""Contains the writer lock of a data directory, and the replacement of its files by others.

Only one process at a time writes to a data directory. The lock file holds the pid of the writer,
and below it the progress of a running ingest as JSON.

The new files of a replacement are built in `import/new`. When they are durable, the folder becomes
`import/ready`. Deleting the old database decides: from then on the new files count, and whoever
opens the knowledge base next completes the change. While it is incomplete there is no database, so
that only a reader that finds none has to look for it.
"""

import json
import os
import time
import weakref
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from kebab.errors.catalog import IoError, Locked
from kebab.errors.system import translate_os_errors
from kebab.platform import lock_descriptor, sync_path

FOLDER = "import"
_NEW, _READY = "new", "ready"

LOCK_NAME = "writer.lock"
"""The file that a writer locks; it is empty while nobody writes."""

SOURCES = "sources.json"
"""The file of the sources, for an index whose database is lost."""

PICTURES = "pictures.jsonl"
"""The file of what models wrote about pictures, which serves any index."""

_LOGS = ("-wal", "-shm")
FILES = (
    *(f"kebab.sqlite{end}" for end in ("", *_LOGS)),
    *(f"reviews.sqlite{end}" for end in ("", *_LOGS)),
    *("lance", "stdin", SOURCES),
)
"""The files and folders of a knowledge base, the database first; a new base has all but logs."""

_RETRY_SECONDS = 0.05
_MAX_BYTES = 512
_WAIT_S, _PAUSE_S = 5.0, 0.001
"""How long a reader waits for the process that replaces, and between two looks."""


class IngestState(NamedTuple):
    """The progress of a running ingest; `done` and `total` count files or chunks, as `unit` says.

    `started` is in seconds since the epoch, `rate` is the number finished in a second, `left` the
    seconds until all are. The counts are None while folders are scanned.
    """

    started: float
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    rate: float | None = None
    left: float | None = None


class Writer(NamedTuple):
    """The process that is writing, and its progress if it is an ingest."""

    pid: int | None
    ingest: IngestState | None


class WriterLock(AbstractContextManager["WriterLock"]):
    """A lock that is held from construction until `close` or garbage collection.

    Collection frees it when an interrupt keeps its holder from closing it, and the system frees it
    when the process ends. The file stays, because removing it would let two processes lock two
    files of the same name.
    """

    def __init__(self, data_dir: Path) -> None:
        """Take the lock without waiting; complete an import that was interrupted at its end.

        Raises:
            Locked: Another writer holds it.
        """
        from kebab.platform import create_folder  # no reader needs it

        self._path = data_dir / LOCK_NAME
        with translate_os_errors(self._path, "create"):
            create_folder(data_dir, 0o700)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            self._freed = weakref.finalize(self, os.close, self._file)
        try:
            self._take()
            complete_replacement(data_dir)
        except (Locked, IoError):
            self._freed()
            raise

    def _take(self) -> None:
        """Lock the file; a holder without a pid only inspects it, so try again once."""
        with translate_os_errors(self._path, "write"):
            for pause in (_RETRY_SECONDS, 0.0):
                if lock_descriptor(self._file):
                    self._write(f"{os.getpid()}\n")
                    return
                if _read_writer(self._file).pid is not None:
                    break
                time.sleep(pause)
        raise Locked(path=str(self._path), holder_pid=_read_writer(self._file).pid)

    def publish(self, state: IngestState) -> None:
        """Let other processes see the progress of this ingest; a full disk does not matter."""
        with suppress(OSError):
            self._write(f"{os.getpid()}\n{json.dumps(state)}\n")

    def _write(self, text: str) -> None:
        data = text.encode()
        # One write replaces the file, because readers take no lock; spaces cover a longer old text.
        os.pwrite(self._file, data.ljust(os.fstat(self._file).st_size), 0)
        os.ftruncate(self._file, len(data))

    def close(self) -> None:
        """Free the lock; a second call does nothing."""
        if self._freed.alive:
            # The pid is only information for others; the next holder overwrites a stale one.
            with suppress(OSError):
                os.ftruncate(self._file, 0)
            self._freed()

    def __exit__(self, *_: object) -> None:
        self.close()


def await_replacement(data_dir: Path) -> None:
    """Complete a replacement that was decided, or wait until another process has done so.

    Raises:
        Locked: The other process takes longer than `_WAIT_S`.
    """
    end = time.monotonic() + _WAIT_S
    while is_incomplete(data_dir):
        try:
            WriterLock(data_dir).close()
        except Locked:
            if time.monotonic() >= end:
                raise
            time.sleep(_PAUSE_S)


def _read_writer(file: int) -> Writer:
    pid, _, rest = os.pread(file, _MAX_BYTES, 0).decode("ascii", "replace").partition("\n")
    state = None
    with suppress(ValueError, TypeError):
        state = IngestState(*json.loads(rest))
    return Writer(int(pid) if pid.isdecimal() else None, state)


def read_writer(data_dir: Path) -> Writer | None:
    """Return the active writer, or None; create nothing.

    The lock itself tells whether the writer is alive. It is tried only when the file names a
    writer, because a try can get in the way of a writer that begins at the same moment.
    """
    with suppress(OSError):  # a lock file that cannot be read tells nothing about a writer
        file = os.open(data_dir / LOCK_NAME, os.O_RDONLY)
        try:
            if os.fstat(file).st_size and not lock_descriptor(file, shared=True):
                return _read_writer(file)
        finally:
            os.close(file)
    return None


def get_staging_folder(data_dir: Path) -> Path:
    """Return the folder in which new files are built."""
    return data_dir / FOLDER / _NEW


def is_incomplete(data_dir: Path) -> bool:
    """Return whether a replacement was decided and the new database is not there yet."""
    is_begun = (data_dir / FOLDER / _READY / FILES[0]).exists()
    return is_begun and not os.path.lexists(data_dir / FILES[0])


def decide_replacement(data_dir: Path) -> None:
    """Let the staged files count, after they are durable. The caller holds the writer lock.

    Raises:
        IoError: The file system refused; the old files still count.
    """
    staged = get_staging_folder(data_dir)
    with translate_os_errors(staged, "write"):
        for parent, folders, names in os.walk(staged):
            for name in (*names, *folders):
                sync_path(Path(parent, name))
        sync_path(staged)
        staged.rename(staged.with_name(_READY))
        sync_path(staged.parent)
        (data_dir / FILES[0]).unlink(missing_ok=True)
        sync_path(data_dir)


def complete_replacement(data_dir: Path) -> None:
    """Complete a replacement that was decided, and delete what is left of others.

    The caller holds the writer lock. A call that ends early is continued by the next one, so a file
    of the old base is deleted when its successor comes, and the database comes last.
    """
    folder = data_dir / FOLDER
    if not folder.exists():
        return
    from kebab.platform import delete_path

    with translate_os_errors(data_dir, "write"):
        if is_incomplete(data_dir):
            for name in reversed(FILES):
                new, old = folder / _READY / name, data_dir / name
                if new.exists() or name.endswith(_LOGS):
                    delete_path(old)
                if new.exists():
                    new.rename(old)
            sync_path(data_dir)
        delete_path(folder)
