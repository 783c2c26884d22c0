"""Translates the exceptions of SQLite to signals, by one table."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import apsw

from kebab.errors.catalog import Cancelled, IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal

SignalBuilder: TypeAlias = Callable[[str, Op, str], Signal]


# A lack of any resource, memory included, is as temporary as a full disk.
_IO = (
    apsw.IOError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
    apsw.NoLFSError,
    apsw.AuthError,
    apsw.VFSNotImplementedError,
    apsw.VFSFileClosedError,
    apsw.NoMemError,
    apsw.TooBigError,
    apsw.AbortError,
)
_LOCKED = (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)
# The statements of kebab are fixed and tested, so one that fails means a damaged schema.
_CORRUPT = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.FormatError,
    apsw.EmptyError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.SchemaChangeError,
    apsw.InternalError,
    apsw.NotFoundError,
    apsw.SQLError,
)
_FAULTS_IN_KEBAB = (
    apsw.ThreadingViolationError,
    apsw.ForkingViolationError,
    apsw.IncompleteExecutionError,
    apsw.BindingsError,
    apsw.ExecutionCompleteError,
    apsw.ExecTraceAbort,
    apsw.ExtensionLoadingError,
    apsw.ConnectionNotClosedError,
    apsw.ConnectionClosedError,
    apsw.CursorClosedError,
    apsw.NoFTS5Error,
    apsw.InvalidContextError,
    apsw.MisuseError,
    apsw.RangeError,
)

_INDEX_NAME = "kebab.sqlite"
"""The database whose writers hold `writer.lock` too."""
_SYSTEM_LOCKS = Path("/proc/locks")
_LOCK_KIND, _LOCK_PID, _LOCK_FILE = 3, 4, 5
"""The positions of the kind, the process and the file in a line of that list."""


def list_writer_pids(path: str) -> list[int]:
    """Return the other processes that have locked a database for writing.

    One that the system does not name, as of another namespace, is 0.

    Raises:
        OSError: The system does not list its locks.
        ValueError: The list has another format.
        IndexError: The list has another format.
    """
    locks = _SYSTEM_LOCKS.read_text(encoding="ascii").splitlines()
    names = [path, f"{path}-shm"]
    if Path(path).name == _INDEX_NAME:
        names.append(str(Path(path).with_name("writer.lock")))
    devices: dict[int, str] = {}
    for name in names:
        with suppress(FileNotFoundError):
            status = Path(name).stat()
            device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
            devices[status.st_ino] = device
    pids: list[int] = []
    for words in map(str.split, locks):
        # A line with `->` is a process that only waits.
        if "->" in words or words[_LOCK_KIND] != "WRITE":
            continue
        device, _, inode = words[_LOCK_FILE].rpartition(":")
        pid = int(words[_LOCK_PID])
        if devices.get(int(inode)) == device and pid != os.getpid():
            pids.append(max(pid, 0))
    return pids


def _build_busy_signal(path: str, op: Op, _cause: str) -> Signal:
    """Return `Locked`; when no other process holds a lock, it is an I/O error."""
    try:
        pids = list_writer_pids(path)
    except (OSError, ValueError, IndexError):
        return Locked(path=path, holder_pid=None)
    if not pids:
        return IoError(path=path, op=op, cause="the database was busy for too long")
    return Locked(path=path, holder_pid=max(pids) or None)


SIGNALS: Mapping[type[apsw.Error], SignalBuilder | None] = {
    **dict.fromkeys(_IO, lambda path, op, cause: IoError(path=path, op=op, cause=cause)),
    **dict.fromkeys(_LOCKED, _build_busy_signal),
    **dict.fromkeys(_CORRUPT, lambda path, _op, cause: StoreCorrupt(path=path, cause=cause)),
    apsw.InterruptError: lambda _path, op, _cause: Cancelled(operation=op),
    **dict.fromkeys(_FAULTS_IN_KEBAB, None),
}
"""Every exception class of apsw; None marks those that only a fault in kebab can raise."""


def build_signal(error: apsw.Error, path: str, op: Op) -> Signal | None:
    """Return the signal that an exception means, or None when it is a fault in kebab."""
    build = SIGNALS.get(type(error))
    return build(path, op, str(error)) if build else None


@contextmanager
def translate_sqlite_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what SQLite reports in the block as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another connection holds the database for longer than the timeout.
        StoreCorrupt: The database is damaged, or a stored value cannot be decoded.
    """
    try:
        yield
    except apsw.Error as error:
        signal = build_signal(error, path, op)
        if signal is None:
            raise
        raise signal from error
    except UnicodeEncodeError:
        raise  # a value of a caller that was not checked
    except ValueError as error:
        # kebab stores valid text, JSON and numbers only.
        is_text = isinstance(error, UnicodeDecodeError)
        cause = "a stored text is not valid UTF-8" if is_text else "a stored value cannot be read"
        raise StoreCorrupt(path=path, cause=cause) from error
