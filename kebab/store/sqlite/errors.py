"""What each exception of SQLite means to kebab: the one table that translates them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

import apsw

from kebab.errors.catalog import Cancelled, IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal

SignalBuilder: TypeAlias = Callable[[str, Op, str], Signal]


def _build_io_error(path: str, op: Op, cause: str) -> Signal:
    return IoError(path=path, op=op, cause=cause)


def _build_locked(path: str, op: Op, cause: str) -> Signal:
    del op, cause
    return Locked(path=path, holder_pid=None)


def _build_store_corrupt(path: str, op: Op, cause: str) -> Signal:
    del op
    return StoreCorrupt(path=path, cause=cause)


def _build_cancelled(path: str, op: Op, cause: str) -> Signal:
    del path, cause
    return Cancelled(operation=op)


# What the machine lacks, be it memory, comes and goes as a full disk does.
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
# Our statements are fixed and tested: when one does not fit, the schema is not what it says.
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
_OURS = (
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

SIGNALS: Mapping[type[apsw.Error], SignalBuilder | None] = {
    **dict.fromkeys(_IO, _build_io_error),
    **dict.fromkeys(_LOCKED, _build_locked),
    **dict.fromkeys(_CORRUPT, _build_store_corrupt),
    apsw.InterruptError: _build_cancelled,
    **dict.fromkeys(_OURS, None),
}
"""Every exception class of apsw; None marks those that only a fault in kebab can raise."""


def build_signal(error: apsw.Error, path: str, op: Op) -> Signal | None:
    """Return the signal that an exception means, or None when it is a fault of our own."""
    build = SIGNALS.get(type(error))
    return build(path, op, str(error)) if build else None


@contextmanager
def translate_sqlite_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what SQLite reports within as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another connection holds the database for longer than the timeout.
        StoreCorrupt: The database is not what it should be.
    """
    try:
        yield
    except apsw.Error as error:
        signal = build_signal(error, path, op)
        if signal is None:
            raise
        raise signal from error
