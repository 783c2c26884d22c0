"""Imports LanceDB, names its tables of vectors, and translates its errors.

A table has one row for each vector: `key`, and `vector` with components of 16 bits. Only
`kebab.store.vectors` and `kebab.store.published`, which has tables of its own, use the library.
"""

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from kebab.core.ids import compute_digest
from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error, import_library, is_memory_fault
from kebab.platform import limit_lance_threads, read_memory_limit, skip_lance_rest_client

FEATURE = "the vector index"
"""The feature that needs the libraries of this module, for messages."""

_MANIFEST = re.compile(r"(\d{20})\.manifest")
_HIGHEST = 2**64 - 1


def get_tables_folder(data_dir: Path) -> Path:
    """Return the folder of all tables; it is absolute, as LanceDB reads relative paths as URLs."""
    return Path(os.path.realpath(data_dir)) / "lance"


def build_table_name(version: str) -> str:
    """Return the table name of an embedding version, which is a valid file name."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", version)
    return safe if safe == version else f"{safe}-{compute_digest(version, size=4)}"


def name_manifest(version: int) -> str:
    """Return the file that makes a version of a table; names count down, the newest is first."""
    return f"{_HIGHEST - version}.manifest"


def read_table_version(table: Path) -> int | None:
    """Return the number of the newest version of a table, without LanceDB; None without a table.

    Raises:
        IoError: The file system refused.
    """
    try:
        names = [path.name for path in (table / "_versions").iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise build_io_error(fault, "read", table) from fault
    found = filter(None, map(_MANIFEST.fullmatch, names))
    return max((_HIGHEST - int(one[1]) for one in found), default=None)


_PANIC_MODULES = ("pyo3_runtime", "pyo3_async_runtimes")
_SOURCE_FILE = re.compile(r"(?<!\S)(?=\S*(?:\.rs\b|/\.cargo/))\S*")

# The engine reports most faults as one class and names the kind only in its text. That text holds
# paths of its source code, so only the audit log has it.
_LOCKED = ("commit conflict", "Too many concurrent writers")
_REFUSED = (
    *("Permission denied", "No space left on device"),
    *("Read-only file system", "Too many open files"),
)
DAMAGED = "the vector index cannot be read"


@cache
def build_signal_table() -> Mapping[type[Exception], type[Signal] | None]:
    """Return what each class means; None marks those that only a fault in kebab can raise.

    A class that is not listed means what its nearest listed ancestor means. The table is built on
    demand, because naming Arrow's classes imports it.
    """
    from lance_namespace.errors import LanceNamespaceError
    from pyarrow import lib

    return {
        OSError: IoError,
        RuntimeError: StoreCorrupt,
        ValueError: StoreCorrupt,
        KeyError: StoreCorrupt,
        LanceNamespaceError: StoreCorrupt,
        lib.ArrowException: StoreCorrupt,
        lib.ArrowTypeError: None,
        lib.ArrowIndexError: None,
        MemoryError: IoError,
        lib.ArrowMemoryError: IoError,
    }


def build_signal(error: Exception, path: str, op: Op) -> Signal | None:
    """Return the signal that an exception means, or None when it is a fault in kebab.

    A lack of memory comes in any class, and is no damage: a damaged table is computed again.
    """
    if is_memory_fault(error):
        return IoError(path=path, op=op, cause="out of memory")
    table, text = build_signal_table(), str(error).partition("\n")[0]
    kind = next((table[one] for one in type(error).__mro__ if one in table), None)
    refusal = next((mark for mark in _REFUSED if mark in text), None)
    if kind is IoError or (kind and refusal):
        said = _SOURCE_FILE.split(text, maxsplit=1)[0].strip(" ,:;")
        return IoError(path=path, op=op, cause=refusal or said or "out of memory")
    if kind and any(mark in text for mark in _LOCKED):
        return Locked(path=path, holder_pid=None)
    return StoreCorrupt(path=path, cause=DAMAGED) if kind else None


@contextmanager
def translate_lance_errors(path: str, op: Op) -> Iterator[None]:
    """Raise what LanceDB reports in the block as signals.

    Raises:
        IoError: The file system refused.
        Locked: Another process is writing to the table.
        StoreCorrupt: The table cannot be read, or the engine panicked.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Signal:
        raise  # also for a library that cannot be loaded: without it there is no signal table
    except BaseException as error:
        # The classes of a panic cannot be imported, so their module's name identifies them.
        if type(error).__module__ in _PANIC_MODULES:
            # Where the address space is limited, a panic proves no damage.
            if is_memory_fault(error) or read_memory_limit() is not None:
                raise IoError(path=path, op=op, cause="out of memory") from error
            raise StoreCorrupt(path=path, cause="the engine of the vector index stopped") from error
        signal = build_signal(error, path, op) if isinstance(error, Exception) else None
        if signal is None:
            raise
        raise signal from error


def import_lancedb() -> Any:
    """Import LanceDB, silent and with few threads."""
    os.environ.setdefault("LANCE_LOG", "error")
    limit_lance_threads()
    skip_lance_rest_client()
    import_library("lancedb", FEATURE, "lancedb")
    import lancedb

    return lancedb
