"""Translates the exceptions of SQLite to signals, by one table."""

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

_SYSTEM_LOCKS = Path("/proc/locks")
_LOCK_KIND, _LOCK_PID, _LOCK_FILE = 3, 4, 5
"""The positions of the kind, the process and the file in a line of that list."""


def find_writer_pid(path: str) -> int | None:
    """Return the process that has locked a database for writing; None where none is known."""
    inodes = set()
    for file in (Path(path), Path(f"{path}-shm"), Path(path).with_name("writer.lock")):
        with suppress(OSError):
            inodes.add(str(file.stat().st_ino))
    with suppress(OSError, ValueError):
        for words in map(str.split, _SYSTEM_LOCKS.read_text(encoding="ascii").splitlines()):
            # A line with `->` is a process that only waits, and 0 is one of another namespace.
            if "->" in words or words[_LOCK_KIND] != "WRITE" or int(words[_LOCK_PID]) <= 0:
                continue
            if words[_LOCK_FILE].rpartition(":")[2] in inodes:
                return int(words[_LOCK_PID])
    return None


def _build_busy_signal(path: str, op: Op, _cause: str) -> Signal:
    """Return `Locked` with its holder; a lock that nobody is known to hold is an I/O error."""
    holder = find_writer_pid(path)
    if holder is None:
        return IoError(path=path, op=op, cause="the database was busy for too long")
    return Locked(path=path, holder_pid=holder)


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
        raise StoreCorrupt(path=path, cause=_describe_value(error)) from error


def _describe_value(error: ValueError) -> str:
    """Return what is wrong with a stored value; kebab stores valid text, JSON and numbers only."""
    if isinstance(error, UnicodeDecodeError):
        return "a stored text is not valid UTF-8"
    return "a stored value cannot be read"
