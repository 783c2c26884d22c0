"""Imports LanceDB, translates its errors, and reads and writes a table of vectors.

A row of the table is `key` and `vector`, with components of 16 bits. `kebab.store.published` has
tables of its own.
"""

import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.core.chunks import Key
from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error, import_library, is_memory_fault, translate_os_errors
from kebab.platform import limit_lance_threads, read_memory_limit, skip_lance_rest_client, sync_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    KeyArray: TypeAlias = NDArray[np.int64]
    HalfMatrix: TypeAlias = NDArray[np.float16]

FEATURE = "the vector index"
"""The feature that needs the libraries of this module, for messages."""

_MANIFEST = re.compile(r"(\d{20})\.manifest")
_HIGHEST = 2**64 - 1

_KEYS_PER_DELETE = 10_000
_KEEP_ALL = timedelta(days=10_000)
_MOST_VERSIONS, _VERSIONS_PER_ROOT, _MOST_DELETED_SHARE = 16, 0.5, 0.2


def name_manifest(version: int) -> str:
    """Return the file that makes a version of a table; names count down, the newest is first."""
    return f"{_HIGHEST - version}.manifest"


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


class LanceTable:
    """The table of vectors in a folder, made by the first row; the caller is the only writer.

    Every method opens the newest version, as another process may have written since the last call.
    The disk has what is written after `sync` only. Every method raises `IoError` when the file
    system refuses, `Locked` when another process writes, and `StoreCorrupt` when the table cannot
    be read.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._translate = partial(translate_lance_errors, str(path))

    def _connect(self) -> Any:
        return import_lancedb().connect(str(self._path.parent))

    def _open(self) -> Any:
        return self._connect().open_table(self._path.stem)

    def read_version(self) -> int | None:
        """Return the number of the newest version, without LanceDB; None without a table."""
        try:
            names = [path.name for path in (self._path / "_versions").iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise build_io_error(fault, "read", self._path) from fault
        found = filter(None, map(_MANIFEST.fullmatch, names))
        return max((_HIGHEST - int(one[1]) for one in found), default=None)

    def read(self) -> "tuple[KeyArray, HalfMatrix]":
        """Return the keys and vectors of the newest version, in the order of the table."""
        with self._translate("read"):
            rows = self._open().to_arrow()
            keys, column = (rows.column(name).combine_chunks() for name in ("key", "vector"))
            numbers = column.flatten().to_numpy(zero_copy_only=False)
            if numbers.size != len(keys) * self._dimension:
                raise StoreCorrupt(path=str(self._path), cause=DAMAGED)
            vectors = numbers.reshape(len(keys), self._dimension).astype("float16", copy=False)
            return keys.to_numpy(zero_copy_only=False), vectors

    def add(self, keys: "KeyArray", vectors: "HalfMatrix") -> None:
        """Add rows in one commit, or make the table of them; one of an earlier build is refused."""
        with self._translate("write"):
            connection = self._connect()
            import pyarrow as pa  # LanceDB needs it as well

            column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
            rows = pa.table({"key": pa.array(keys), "vector": column})
            name = self._path.stem
            if self.read_version() is None:
                connection.create_table(name, rows)
            else:
                connection.create_table(name, schema=rows.schema, exist_ok=True).add(rows)

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these keys."""
        ordered = list(map(str, sorted(keys)))
        with self._translate("write"):
            table = self._open()
            for start in range(0, len(ordered), _KEYS_PER_DELETE):
                table.delete(f"key IN ({','.join(ordered[start : start + _KEYS_PER_DELETE])})")

    def compact(self) -> None:
        """Merge fragments and delete old versions when it pays."""
        with self._translate("write"):
            table = self._open()
            stats = table.stats()
            fragments = stats["fragment_stats"]
            stored = fragments["num_fragments"] * fragments["lengths"]["mean"]
            # A version costs each later run .3 ms, compaction 7 ms for each thousand rows. The sum
            # is lowest when the versions follow the root of the rows.
            most = _MOST_VERSIONS + stored**0.5 * _VERSIONS_PER_ROOT
            if (
                len(list((self._path / "_versions").iterdir())) > most
                or stored - stats["num_rows"] > stored * _MOST_DELETED_SHARE
            ):
                table.optimize(cleanup_older_than=_KEEP_ALL)
                self.sync()
                # A file that no version names is what a killed call has left.
                table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)

    def sync(self) -> None:
        """Wait until the disk has the files of the table; LanceDB itself does not."""
        with translate_os_errors(self._path, "write"):
            for path in (*self._path.rglob("*"), self._path, self._path.parent):
                sync_path(path)
