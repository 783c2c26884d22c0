"""Contains the Lance table and the translation of its errors; only this module imports LanceDB."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from kebab.config.tuning import limit_lance_threads, skip_lance_rest_client
from kebab.core.documents import VectorRow
from kebab.core.durable import delete_path
from kebab.core.ids import Key
from kebab.errors.catalog import IoError, Locked, Op, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.errors.system import (
    import_library,
    is_memory_fault,
    require_address_space,
    translate_import_errors,
    translate_os_errors,
)
from kebab.platform import read_memory_limit, sync_path
from kebab.store.lance import key_file
from kebab.store.lance.key_file import KeyFile, RunFinder

if TYPE_CHECKING:
    from kebab.store.lance.key_file import Batch, KeyArray, Parts

_PANIC_MODULES = ("pyo3_runtime", "pyo3_async_runtimes")
_SOURCE_FILE = re.compile(r"(?<!\S)(?=\S*(?:\.rs\b|/\.cargo/))\S*")

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
    # Where the address space is limited, a panic proves no damage.
    if is_memory_fault(cause) or read_memory_limit() is not None:
        return IoError(path=path, op=op, cause="out of memory")
    return StoreCorrupt(path=path, cause=_STOPPED)


def _build_io_error(path: str, op: Op, cause: str) -> Signal:
    # A lack of memory is as temporary as a full disk, and often comes without a message.
    refusal = next((mark for mark in _REFUSED if mark in cause), None)
    text = _SOURCE_FILE.split(cause, maxsplit=1)[0].strip(" ,:;")
    return IoError(path=path, op=op, cause=refusal or text or "out of memory")


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
    return build(path, op, str(error).partition("\n")[0]) if build else None


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


T = TypeVar("T")

ADDRESS_SPACE = 2_300_000_000
"""How many bytes of address space the engine takes, mostly unused: measured 2.13 GB.

With less it aborts the process or waits for ever for a thread.
"""

_BATCH_ROWS, _KEYS_PER_DELETE = 4_096, 10_000
_MAX_FRAGMENTS, _FRAGMENTS_PER_ROOT = 8, 0.25
_MAX_VERSIONS, _MAX_DELETED_SHARE = 16, 0.2
_READ_ATTEMPTS = 4
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
    """One table of keys and vectors; the first use opens it, the first append creates it."""

    def __init__(self, data_dir: Path, version: str, dimension: int) -> None:
        self.path = key_file.get_table_path(data_dir, version)
        self._name = key_file.build_table_name(version)
        self._dimension = dimension
        self._table: Any = None
        self._digest: bytes | None = None  # of the state that `_table` opened or wrote

    @property
    def is_open(self) -> bool:
        """Whether this process has opened the table."""
        return self._table is not None

    def exists(self) -> bool:
        """Return whether the table has any version."""
        return bool(key_file.list_manifests(self.path))

    def append(self, rows: Sequence[VectorRow]) -> bool:
        """Add rows in one durable commit; return whether this created the table."""
        with self._write():
            with translate_import_errors(key_file.FEATURE, "pyarrow"):
                import numpy as np
                import pyarrow as pa

            vectors = np.concatenate([row.vector for row in rows], dtype=np.float32)
            columns = {
                "key": pa.array([row.key for row in rows], pa.int64()),
                "chunk_id": pa.array([row.chunk_id for row in rows], pa.string()),
                "doc_id": pa.array([row.doc_id for row in rows], pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), self._dimension),
            }
            data = pa.table(columns)
            if is_new := not self.exists():
                self._table = self._connect().create_table(self._name, data)
            else:
                self._open().add(data)
        return is_new

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these keys."""
        with self._write():
            table = self._open()
            ordered = list(map(str, sorted(keys)))
            for start in range(0, len(ordered), _KEYS_PER_DELETE):
                part = ",".join(ordered[start : start + _KEYS_PER_DELETE])
                table.delete(f"key IN ({part})")

    def drop(self) -> None:
        """Delete the table with all its files, and what a killed call has left of them."""
        renamed = self.path.with_suffix(".gone")
        with translate_os_errors(self.path, "write"):
            delete_path(renamed)
            if self.path.exists():
                # A half-deleted table would look damaged, so rename it first.
                self.path.rename(renamed)
                delete_path(renamed)
        self._table = None

    def restore(self) -> bool:
        """Delete the newest versions that cannot be read; return whether one is left.

        A power cut may leave the manifest of a commit without its rows. Every commit before the
        last one is on the disk. A part of a table that cannot be read is lost only when no version
        is without it.
        """
        for manifest in key_file.list_manifests(self.path):
            self._table = None
            try:
                for _ in self.iterate_batches():
                    pass
            except StoreCorrupt:
                with translate_os_errors(manifest, "write"):
                    manifest.unlink()
            else:
                return True
        return False

    def read_latest(self, read: Callable[[], T]) -> T:
        """Return what `read` gets from the latest version.

        It is called again when the writer has deleted that version meanwhile.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        for _ in range(_READ_ATTEMPTS - 1):
            before = key_file.read_table_digest(self.path)
            try:
                return read()
            except StoreCorrupt:
                if key_file.read_table_digest(self.path) in (before, None):
                    raise
                self._table = None
        return read()

    def iterate_batches(self) -> "Iterator[Batch]":
        """Yield the keys and vectors of all rows."""
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        for batch in self._read(["key", "vector"]):
            vectors = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
            keys = batch.column("key").to_numpy(zero_copy_only=False)
            if vectors.size != len(keys) * self._dimension:
                raise StoreCorrupt(path=str(self.path), cause=_DAMAGED)
            yield keys, vectors.reshape(-1, self._dimension).astype(np.float32, copy=False)

    def list_keys(self) -> "KeyArray":
        """Return the keys of all rows."""
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        parts = self.read_latest(
            lambda: [batch.column("key").to_numpy() for batch in self._read(["key"])]
        )
        return np.concatenate([np.empty(0, np.int64), *parts])

    def _read(self, columns: list[str]) -> Iterator[Any]:
        """Yield columns of all rows in Arrow batches."""
        with self._translate_errors("read"):
            table = self._open()
            query = table.search().select(columns).limit(max(1, table.count_rows()))
            yield from query.to_batches(_BATCH_ROWS)

    def maintain(self, follow: Callable[[], object] = lambda: None) -> bool:
        """Compact the table and delete old versions when it pays; return whether it did.

        `follow` is called in between. A reader whose version is deleted reads the latest one
        instead. The caller holds the writer lock, so a file that no version names is what a killed
        call has left.
        """
        with self._translate_errors("write"):
            stats = self._open().stats()
            fragments = stats["fragment_stats"]
            stored = fragments["num_fragments"] * fragments["lengths"]["mean"]
            # A fragment costs each later run .3 ms, compaction 7 ms for each thousand rows. The sum
            # is lowest when the fragments follow the root of the rows.
            spare = int(stored**0.5 * _FRAGMENTS_PER_ROOT)
            if not (
                fragments["num_fragments"] > _MAX_FRAGMENTS + spare
                or len(key_file.list_manifests(self.path)) > _MAX_VERSIONS + 2 * spare
                or stored - stats["num_rows"] > stored * _MAX_DELETED_SHARE
            ):
                return False
            with self._write():
                self._open().optimize(cleanup_older_than=_KEEP_ALL)
            follow()
            # The disk has the compacted rows by now, so their old copies can go.
            self._open().optimize(cleanup_older_than=_KEEP_LATEST, delete_unverified=True)
        return True

    @contextmanager
    def _write(self) -> Iterator[None]:
        """Wait after the block until its commits are durable."""
        with self._translate_errors("write"), sync_new_files(self.path):
            yield
            self._digest = key_file.read_table_digest(self.path)

    def _open(self) -> Any:
        """Return the latest version; another process may have written since the last call."""
        digest = key_file.read_table_digest(self.path)
        if self._table is None or digest != self._digest:
            self._table = self._connect().open_table(self._name)
            self._digest = digest
        return self._table

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
    if "lancedb" not in sys.modules:
        require_address_space(ADDRESS_SPACE)
    os.environ.setdefault("LANCE_LOG", "error")
    limit_lance_threads()
    skip_lance_rest_client()
    import_library("lancedb", key_file.FEATURE, "lancedb")
    import lancedb

    return lancedb


def rebuild_key_file(data_dir: Path, version: str, dimension: int) -> bool:
    """Write the key file of the table; return whether that was possible.

    Raises:
        StoreCorrupt: The table cannot be read.
    """
    table = LanceTable(data_dir, version, dimension)
    digest = key_file.read_table_digest(table.path)
    if digest is None:
        return False
    try:
        runs = list(RunFinder(table.path).find_runs(table.iterate_batches()))
        if key_file.read_table_digest(table.path) != digest:
            return False  # the writer was faster
        KeyFile(key_file.get_key_file_path(data_dir, version), dimension).write(digest, runs)
    except (OSError, LookupError):
        return False
    except StoreCorrupt:
        # A version that the writer has deleted meanwhile is not damaged.
        if key_file.read_table_digest(table.path) == digest:
            raise
        return False
    return True


def load_rows(data_dir: Path, version: str, dimension: int) -> "Parts":
    """Return all rows of the table in memory.

    Raises:
        StoreCorrupt: The table cannot be read.
    """
    table = LanceTable(data_dir, version, dimension)
    return key_file.join_parts(table.read_latest(lambda: list(table.iterate_batches())))
