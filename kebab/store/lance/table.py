"""Contains the writer of the vector index: it changes the table, then the vector file."""

import os
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kebab.core.documents import VectorRow
from kebab.core.ids import Key, Keys, compute_digest
from kebab.errors.system import (
    require_address_space,
    translate_import_errors,
    translate_os_errors,
)
from kebab.store.lance import vector_file
from kebab.store.lance.engine import (
    ADDRESS_SPACE,
    LanceTable,
    preload_lancedb,
    rebuild_vector_file,
)
from kebab.store.lance.vector_file import TOMBSTONE
from kebab.store.lance.vector_search import ExactIndex, MappedVectors

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

_MAX_TOMBSTONE_SHARE = 0.25
_MAX_LENGTH_ERROR = 0.01


class LanceVectors(MappedVectors):
    """A `VectorWriter`; the caller holds the writer lock of the data directory.

    Every method raises `IoError` when the file system refuses and `StoreCorrupt` when the table
    cannot be read.
    """

    def __init__(self, data_dir: Path, version: str, dimension: int) -> None:
        super().__init__(data_dir, version, dimension)
        self._table = LanceTable(data_dir, version, dimension)

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the stored vectors of those of these chunks that have one."""
        with translate_import_errors(vector_file.FEATURE, "numpy"):
            import numpy as np

        # The base class maps and scans the whole file after every commit.
        digest = self._read_digest()
        wanted = np.fromiter(keys, np.int64, len(keys))
        rows = self._file.read_rows(digest, wanted) if digest else None
        if rows is None:
            return super().get(keys)
        return {Key(key): vector for key, vector in zip(rows[0].tolist(), rows[1], strict=True)}

    def _is_file_followed(self) -> bool:
        return False  # by this object alone, in the same call

    def prepare(self) -> None:
        """Start to import LanceDB in a thread, so that the first write waits less.

        Raises:
            OutOfMemory: There is not enough address space for it.
        """
        require_address_space(ADDRESS_SPACE)
        with suppress(RuntimeError):  # no thread can be started
            Thread(target=preload_lancedb, name="lancedb").start()

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows in one commit and return when they are durable."""
        with translate_import_errors(vector_file.FEATURE, "numpy"):
            import numpy as np

        if not rows:
            return
        keys = np.array([row.key for row in rows], np.int64)
        matrix = np.array([row.vector for row in rows], np.float32)
        before = self._read_digest()
        if self._table.append(rows):
            self._follow(None, lambda _, after: self._file.write(after, [(keys, matrix)]))
        else:
            self._follow(before, lambda old, new: self._file.append_rows(old, new, (keys, matrix)))

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks."""
        with translate_import_errors(vector_file.FEATURE, "numpy"):
            import numpy as np

        before = self._read_digest()
        if not keys or before is None:
            return
        self._table.delete(keys)
        deleted = np.fromiter(keys, np.int64, len(keys))
        self._follow(before, lambda old, new: self._file.delete_rows(old, new, deleted))

    def clear(self) -> None:
        """Delete every row, and the files that held them."""
        self._table.drop()
        with suppress(OSError):
            self._file.delete_file()

    def list_keys(self, *, verify: bool = False) -> Keys:
        """Return the key of every row in rising order; `verify` reads the table itself."""
        digest = self._read_digest()
        if digest is None:
            return array("q")
        keys = None if verify else self._file.read_keys(digest)
        if keys is None:
            keys = self._table.list_keys()
        keys = keys[keys != TOMBSTONE]
        keys.sort()
        return array("q", keys.tobytes())

    def find_damaged_keys(self) -> set[Key]:
        """Return the keys whose vector has not length 1, or differs between table and file.

        Both hold the same bytes, and neither has checksums.
        """
        digest = self._read_digest()
        if digest is None or not self._dimension:
            return set()
        return self._table.read_latest(lambda: self._find_damaged_keys(digest))

    def _find_damaged_keys(self, digest: bytes) -> set[Key]:
        with translate_import_errors(vector_file.FEATURE, "numpy"):
            import numpy as np

        mapped = self._file.map_vectors(digest)
        index = ExactIndex(*mapped) if mapped else None
        damaged: set[Key] = set()
        for keys, matrix in self._table.iterate_batches():
            with np.errstate(all="ignore"):
                intact = np.abs(np.einsum("ij,ij->i", matrix, matrix) - 1.0) < _MAX_LENGTH_ERROR
            damaged.update(keys[~intact].tolist())
            copies = index.get(keys.tolist()) if index else {}
            damaged.update(
                Key(key)
                for key, vector in zip(keys.tolist(), matrix, strict=True)
                if key in copies and copies[key].tobytes() != vector.tobytes()
            )
        return damaged

    def describe_files(self) -> str:
        """Return a digest of the name, size and time of every file of the index."""
        table = vector_file.get_table_path(self._data_dir, self._version)
        files = [str(vector_file.get_vector_file_path(self._data_dir, self._version))]
        facts = []
        with translate_os_errors(table, "read"):
            for folder, _, names in os.walk(table):
                files += [f"{folder}/{name}" for name in names]
            for path in sorted(files):
                with suppress(FileNotFoundError):
                    stat = os.stat(path)  # noqa: PTH116 - every run does it; `Path` takes twice as long
                    name = path.rpartition("/")[2]
                    facts.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
        return compute_digest(*facts)

    def maintain(self) -> None:
        """Compact and drop old versions when it pays, and refresh the vector file."""
        before = self._read_digest()
        if before is None:
            return
        # A run that wrote nothing has nothing to compact and need not import LanceDB.
        if self._table.is_open and self._table.maintain():
            self._follow(before, self._file.update_digest)
        if not self._is_file_current():
            rebuild_vector_file(self._data_dir, self._version, self._dimension)

    def _follow(self, before: bytes | None, step: Callable[[bytes, bytes], None]) -> None:
        """Let the vector file follow a commit; after a failure it is merely out of date."""
        after = self._read_digest()
        if after is not None:
            with suppress(OSError):
                step(before or b"", after)

    def _is_file_current(self) -> bool:
        digest = self._read_digest()
        keys = self._file.read_keys(digest) if digest else None
        if keys is None:
            return False
        return int((keys == TOMBSTONE).sum()) <= len(keys) * _MAX_TOMBSTONE_SHARE
