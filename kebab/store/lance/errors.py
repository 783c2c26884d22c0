"""Translates the exceptions of LanceDB and Arrow to signals, by one table."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import is_memory_fault

_PANIC_MODULES = ("pyo3_runtime", "pyo3_async_runtimes")
_SOURCE_FILE = re.compile(r"\S*\.rs\b|\S*/\.cargo/\S*")

SignalBuilder: TypeAlias = Callable[[str, Op, str], Signal]

# The engine reports most faults as one class and names the kind only in its text. That text holds
# paths of its source code, so only the audit log has it.
_LOCKED = ("commit conflict", "Too many concurrent writers")
_REFUSED = (
    "Permission denied",
    "No space left on device",
    "Read-only file system",
    "Too many open files",
)
_DAMAGED = "the vector index cannot be read"
_STOPPED = "the engine of the vector index stopped"


def _build_engine_error(path: str, op: Op, cause: str) -> Signal:
    if any(mark in cause for mark in _LOCKED):
        return Locked(path=path, holder_pid=None)
    for refusal in _REFUSED:
        if refusal in cause:
            return IoError(path=path, op=op, cause=refusal)
    return StoreCorrupt(path=path, cause=_DAMAGED)


def _build_panic_error(path: str, op: Op, cause: BaseException) -> Signal:
    """Return the signal of a panic: of damaged data, or of a lack of memory or threads."""
    if is_memory_fault(cause) or _is_memory_limited():
        return IoError(path=path, op=op, cause="out of memory")
    return StoreCorrupt(path=path, cause=_STOPPED)


def _is_memory_limited() -> bool:
    """Return whether the address space is limited: then a panic proves no damage."""
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _build_io_error(path: str, op: Op, cause: str) -> Signal:
    # A lack of memory is as temporary as a full disk, and often comes without a message.
    refusal = next((mark for mark in _REFUSED if mark in cause), None)
    return IoError(path=path, op=op, cause=refusal or _get_plain_text(cause) or "out of memory")


def _get_plain_text(cause: str) -> str:
    """Return the text of an exception up to the first name of a source file."""
    return _SOURCE_FILE.split(cause, maxsplit=1)[0].strip(" ,:;")


@cache
def build_signal_table() -> Mapping[type[Exception], SignalBuilder | None]:
    """Return what each class means; None marks those that only a fault in kebab can raise.

    A class that is not listed means what its nearest listed ancestor means. The table is built on
    demand, because naming Arrow's classes imports it.
    """
    from lance_namespace.errors import LanceNamespaceError
    from pyarrow import lib

    return {
        OSError: _build_io_error,
        RuntimeError: _build_engine_error,
        ValueError: _build_engine_error,
        KeyError: _build_engine_error,
        LanceNamespaceError: _build_engine_error,
        lib.ArrowException: _build_engine_error,
        lib.ArrowTypeError: None,
        lib.ArrowIndexError: None,
        MemoryError: _build_io_error,
        lib.ArrowMemoryError: _build_io_error,
    }


def build_signal(error: Exception, path: str, op: Op) -> Signal | None:
    """Return the signal that an exception means, or None when it is a fault in kebab.

    A lack of memory comes in any class, and is no damage: a damaged table is computed again.
    """
    if is_memory_fault(error):
        return IoError(path=path, op=op, cause="out of memory")
    builders = build_signal_table()
    kinds = (kind for kind in type(error).__mro__ if kind in builders)
    build = builders.get(next(kinds, Exception))
    return build(path, op, _get_first_line(error)) if build else None


def _get_first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


@contextmanager
def translate_lance_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what LanceDB reports in the block as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another process is writing to the table.
        StoreCorrupt: The table cannot be read, or the engine panicked.
    """
    try:
        yield
    except Signal:
        raise  # also for a library that cannot be loaded: without it there is no signal table
    except BaseException as error:
        # The classes of a panic cannot be imported, so their module's name identifies them.
        if type(error).__module__ in _PANIC_MODULES:
            raise _build_panic_error(path, op, error) from error
        signal = build_signal(error, path, op) if isinstance(error, Exception) else None
        if signal is None:
            raise
        raise signal from error
