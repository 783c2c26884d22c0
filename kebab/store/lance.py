"""Contains the Lance table of vectors and the translation of its errors.

Only this module imports LanceDB, and `kebab.store.published`, which has tables of its own. A table
has one row for each vector: `key`, and `vector` with components of 16 bits. All distances are
computed from the snapshot that `kebab.store.vectors` makes of it.
"""

import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.core.ids import Key, compute_digest
from kebab.durable import delete_path
from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import (
    build_io_error,
    import_library,
    is_memory_fault,
    translate_import_errors,
    translate_os_errors,
)
from kebab.platform import limit_lance_threads, read_memory_limit, skip_lance_rest_client, sync_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    KeyArray: TypeAlias = NDArray[np.int64]
    HalfMatrix: TypeAlias = NDArray[np.float16]

FEATURE = "the vector index"
"""The feature that needs the libraries of this module, for messages."""

_FOLDER = "lance"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_NEWEST_FIRST_DIGITS = 20
_HIGHEST = 2**64 - 1


def get_tables_folder(data_dir: Path) -> Path:
    """Return the folder of all tables; it is absolute, as LanceDB reads relative paths as URLs."""
    return Path(os.path.realpath(data_dir)) / _FOLDER


def build_table_name(version: str) -> str:
    """Return the table name of an embedding version, which is a valid file name."""
    safe = _UNSAFE.sub("-", version)
    return safe if safe == version else f"{safe}-{compute_digest(version, size=4)}"


def read_table_version(table: Path) -> int | None:
    """Return the number of the newest version of a table, without LanceDB; None without a table.

    Names of 20 digits count down, so that listings of object stores start with the newest.

    Raises:
        IoError: The file system refused.
    """
    try:
        names = [path.name for path in (table / "_versions").iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise build_io_error(fault, "read", table) from fault
    stems = (name.removesuffix(".manifest") for name in names if name.endswith(".manifest"))
    return max(
        (
            _HIGHEST - int(stem) if len(stem) == _NEWEST_FIRST_DIGITS else int(stem)
            for stem in stems
            if stem.isdecimal()
        ),
        default=None,
    )


_PANIC_MODULES = ("pyo3_runtime", "pyo3_async_runtimes")
_SOURCE_FILE = re.compile(r"(?<!\S)(?=\S*(?:\.rs\b|/\.cargo/))\S*")

# The engine reports most faults as one class and names the kind only in its text. That text holds
# paths of its source code, so only the audit log has it.
_LOCKED = ("commit conflict", "Too many concurrent writers")
_REFUSED = (
    *("Permission denied", "No space left on device"),
    *("Read-only file system", "Too many open files"),
)
_DAMAGED = "the vector index cannot be read"
_STOPPED = "the engine of the vector index stopped"


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
    return StoreCorrupt(path=path, cause=_DAMAGED) if kind else None


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
            # Where the address space is limited, a panic proves no damage.
            if is_memory_fault(error) or read_memory_limit() is not None:
                raise IoError(path=path, op=op, cause="out of memory") from error
            raise StoreCorrupt(path=path, cause=_STOPPED) from error
        signal = build_signal(error, path, op) if isinstance(error, Exception) else None
        if signal is None:
            raise
        raise signal from error


_BATCH_ROWS, _KEYS_PER_DELETE = 65_536, 10_000
_MAX_FRAGMENTS, _FRAGMENTS_PER_ROOT = 8, 0.25
_MAX_VERSIONS, _MAX_DELETED_SHARE = 16, 0.2
_KEEP_ALL, _KEEP_LATEST = timedelta(days=10_000), timedelta(0)
_TABLE_FOLDERS = ("data", "_deletions", "_transactions", "_versions")


@contextmanager
def sync_new_files(table: Path) -> Iterator[None]:
    """Wait after the block until the disk has the files that the table gained in it."""
    before, is_new = _list_files(table), not table.exists()
    yield
    gained = _list_files(table) - before
    above = (table, table.parent, table.parent.parent) if is_new and gained else (table,)
    for path in [*sorted(gained), *{path.parent for path in gained}, *above]:
        if path.exists():
            sync_path(path)


def _list_files(table: Path) -> set[Path]:
    folders = [table / name for name in _TABLE_FOLDERS]
    return {path for folder in folders if folder.is_dir() for path in folder.iterdir()}


class LanceTable:
    """One table of keys and vectors; the first use opens it, the first row creates it.

    The caller holds the writer lock, but for `read_rows`.
    """

    def __init__(self, data_dir: Path, version: str, dimension: int) -> None:
        self._name = build_table_name(version)
        self.path = get_tables_folder(data_dir) / f"{self._name}.lance"
        self._dimension = dimension
        self._table: Any = None
        self._version: int | None = None  # of the state that `_table` opened or wrote

    @property
    def is_open(self) -> bool:
        """Whether this process has opened the table."""
        return self._table is not None

    def append(self, keys: "KeyArray", vectors: "HalfMatrix") -> None:
        """Add rows in one durable commit."""
        with self._write():
            data = self._build_rows(keys, vectors)
            if read_table_version(self.path) is None:
                self._table = self._connect().create_table(self._name, data)
            else:
                self._open_for_writing().add(data)

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these keys."""
        with self._write():
            table = self._open_for_writing()
            ordered = list(map(str, sorted(keys)))
            for start in range(0, len(ordered), _KEYS_PER_DELETE):
                part = ",".join(ordered[start : start + _KEYS_PER_DELETE])
                table.delete(f"key IN ({part})")

    def drop(self) -> None:
        """Delete the table with all its files."""
        with translate_os_errors(self.path, "write"):
            delete_path(self.path)
        self._table = None

    def read_rows(self) -> "tuple[KeyArray, HalfMatrix]":
        """Return the keys and vectors of the newest version, in the order of the table.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        with translate_import_errors(FEATURE, "numpy"):
            import numpy as np

        keys, parts = [np.empty(0, np.int64)], [np.empty((0, self._dimension), np.float16)]
        with self._translate_errors("read"):
            table = self._open()
            query = table.search().select(["key", "vector"]).limit(max(1, table.count_rows()))
            for batch in query.to_batches(_BATCH_ROWS):
                numbers = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
                keys.append(batch.column("key").to_numpy(zero_copy_only=False))
                if numbers.size != len(keys[-1]) * self._dimension:
                    raise StoreCorrupt(path=str(self.path), cause=_DAMAGED)
                parts.append(numbers.reshape(-1, self._dimension).astype(np.float16, copy=False))
        return np.concatenate(keys), np.concatenate(parts)

    def compact(self) -> None:
        """Merge fragments and delete old versions when it pays.

        A file that no version names is what a killed call has left.
        """
        with self._translate_errors("write"):
            table = self._open()
            stats = table.stats()
            fragments = stats["fragment_stats"]
            stored = fragments["num_fragments"] * fragments["lengths"]["mean"]
            # A fragment costs each later run .3 ms, compaction 7 ms for each thousand rows. The sum
            # is lowest when the fragments follow the root of the rows.
            spare = int(stored**0.5 * _FRAGMENTS_PER_ROOT)
            if not (
                fragments["num_fragments"] > _MAX_FRAGMENTS + spare
                or len(list((self.path / "_versions").iterdir())) > _MAX_VERSIONS + 2 * spare
                or stored - stats["num_rows"] > stored * _MAX_DELETED_SHARE
            ):
                return
            with self._write():
                table.optimize(cleanup_older_than=_KEEP_ALL)
            # The disk has the compacted rows by now, so their old copies can go.
            table.optimize(cleanup_older_than=_KEEP_LATEST, delete_unverified=True)

    def _build_rows(self, keys: "KeyArray", vectors: "HalfMatrix") -> Any:
        with translate_import_errors(FEATURE, "pyarrow"):
            import pyarrow as pa

        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), self._dimension)
        return pa.table({"key": pa.array(keys), "vector": column})

    @contextmanager
    def _write(self) -> Iterator[None]:
        """Wait after the block until its commits are durable."""
        with self._translate_errors("write"), sync_new_files(self.path):
            yield
            self._version = read_table_version(self.path)

    def _open(self) -> Any:
        """Return the newest version; another process may have written since the last call."""
        version = read_table_version(self.path)
        if self._table is None or version != self._version:
            self._table = self._connect().open_table(self._name)
            self._version = version
        return self._table

    def _open_for_writing(self) -> Any:
        """Return the table; one of an earlier build, with other columns, is written anew."""
        import pyarrow as pa

        table = self._open()
        if table.schema.names != ["key", "vector"] or not pa.types.is_float16(
            table.schema.field("vector").type.value_type
        ):
            data = self._build_rows(*self.read_rows())
            table = self._connect().create_table(self._name, data, mode="overwrite")
            self._table, self._version = table, read_table_version(self.path)
        return table

    def _connect(self) -> Any:
        return import_lancedb().connect(str(self.path.parent))

    @contextmanager
    def _translate_errors(self, op: Op) -> Iterator[None]:
        with warnings.catch_warnings(), translate_lance_errors(str(self.path), op):
            warnings.simplefilter("ignore")
            yield


def preload_lancedb() -> None:
    """Import LanceDB; its first use reports an import that fails."""
    with suppress(Exception):
        import_lancedb()


def import_lancedb() -> Any:
    """Import LanceDB, silent and with few threads."""
    os.environ.setdefault("LANCE_LOG", "error")
    limit_lance_threads()
    skip_lance_rest_client()
    import_library("lancedb", FEATURE, "lancedb")
    import lancedb

    return lancedb
