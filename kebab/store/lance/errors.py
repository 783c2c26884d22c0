"""What each exception of LanceDB and Arrow means to kebab: the one table that translates them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import TracebackType
from typing import TypeAlias

from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal

_PANICS = ("pyo3_runtime", "pyo3_async_runtimes")

SignalBuilder: TypeAlias = Callable[[str, Op, str], Signal]

# The engine reports most faults as one class and names the kind only in its text.
_TAKEN = ("commit conflict", "Too many concurrent writers")
_REFUSED = ("Permission denied", "No space left", "Read-only file system", "Too many open files")


def _build_engine_error(path: str, op: Op, cause: str) -> Signal:
    if any(mark in cause for mark in _TAKEN):
        return Locked(path=path, holder_pid=None)
    if any(mark in cause for mark in _REFUSED):
        return IoError(path=path, op=op, cause=cause)
    return StoreCorrupt(path=path, cause=cause)


def _build_io_error(path: str, op: Op, cause: str) -> Signal:
    # A lack of memory comes and goes as a full disk does, and often has no words.
    return IoError(path=path, op=op, cause=cause or "out of memory")


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
    """Return the signal that an exception means, or None when it is a fault of our own."""
    known = build_signal_table()
    build = next(known[ancestor] for ancestor in type(error).__mro__ if ancestor in known)
    return build(path, op, _first_line(error)) if build else None


class Panicking:
    """Turns a panic of the engine within into the signal for a table that cannot be read.

    Its classes can be imported from nowhere, so the module that they name tells them.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Translate what was raised."""
        if kind is not None and kind.__module__ in _PANICS:
            raise StoreCorrupt(path=self._path, cause=_first_line(error)) from error


def _first_line(error: BaseException | None) -> str:
    return str(error).partition("\n")[0]


@contextmanager
def translate_lance_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what LanceDB reports within as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another process is writing to the table.
        StoreCorrupt: The table cannot be read.
    """
    try:
        yield
    except Signal:
        raise  # among them a library that cannot be loaded, without which there is no table
    except tuple(build_signal_table()) as error:
        signal = build_signal(error, path, op)
        if signal is None:
            raise
        raise signal from error
