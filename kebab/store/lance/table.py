"""The vector index under the writer lock: the table first, then the vector_file that follows it."""

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kebab.core.chunks import KeyedScore
from kebab.core.documents import VectorRow
from kebab.core.ids import Key, Keys
from kebab.errors.system import translate_import_errors
from kebab.store.lance import layout
from kebab.store.lance.engine import LanceTable, preload_lancedb, rebuild_vector_file
from kebab.store.lance.vector_file import TOMBSTONE, VectorFile
from kebab.store.lance.vector_search import MappedVectors

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

_MAX_TOMBSTONE_SHARE = 0.25


class LanceVectors:
    """A `VectorWriter`; the caller holds the writer lock of the data directory."""

    def __init__(self, data_dir: Path, version: str, dimension: int) -> None:
        self._table = LanceTable(data_dir, version, dimension)
        self._file = VectorFile(layout.get_vector_file_path(data_dir, version), dimension)
        self._reader = MappedVectors(data_dir, version, dimension)
        self._rebuild = partial(rebuild_vector_file, data_dir, version, dimension)

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the chunks of highest cosine, filtered before the cut."""
        return self._reader.find_nearest(query, limit, allowed)

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these chunks that have a vector."""
        return self._reader.compute_cosines(query, keys)

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the stored vectors of those of these chunks that have one."""
        with translate_import_errors(layout.FEATURE, "numpy"):
            import numpy as np

        # A reader maps the file anew after every commit, and looks at all of it.
        digest = layout.read_table_digest(self._table.path)
        rows = (
            self._file.read_rows(digest, np.fromiter(keys, np.int64, len(keys))) if digest else None
        )
        if rows is None:
            return self._reader.get(keys)
        return {Key(key): vector for key, vector in zip(rows[0].tolist(), rows[1], strict=True)}

    def count(self) -> int:
        """Return how many chunks have a vector."""
        return self._reader.count()

    def prepare(self) -> None:
        """Begin to load LanceDB beside other work; whoever writes then need not wait as long."""
        with suppress(RuntimeError):  # no thread can be had
            Thread(target=preload_lancedb, name="lancedb").start()

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows in one commit and return when they are durable.

        Raises:
            IoError: The file system refused.
            StoreCorrupt: The table cannot be read.
        """
        with translate_import_errors(layout.FEATURE, "numpy"):
            import numpy as np

        if not rows:
            return
        keys = np.array([row.key for row in rows], np.int64)
        matrix = np.array([row.vector for row in rows], np.float32)
        before = layout.read_table_digest(self._table.path)
        if self._table.append(rows):
            self._follow(None, lambda _, after: self._file.write(after, [(keys, matrix)]))
        else:
            self._follow(before, lambda old, new: self._file.append_rows(old, new, (keys, matrix)))

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks.

        Raises:
            IoError: The file system refused.
            StoreCorrupt: The table cannot be read.
        """
        with translate_import_errors(layout.FEATURE, "numpy"):
            import numpy as np

        before = layout.read_table_digest(self._table.path)
        if not keys or before is None:
            return
        self._table.delete(keys)
        gone = np.fromiter(keys, np.int64, len(keys))
        self._follow(before, lambda old, new: self._file.delete_rows(old, new, gone))

    def clear(self) -> None:
        """Delete every row, and the files that held them.

        Raises:
            IoError: The file system refused.
        """
        if self._table.exists():
            self._table.drop()
        with suppress(OSError):
            self._file.delete_file()

    def list_keys(self, *, sure: bool = False) -> Keys:
        """Return the key of every row in rising order; `sure` reads the table itself.

        Raises:
            IoError: The file system refused.
            StoreCorrupt: The table cannot be read.
        """
        digest = layout.read_table_digest(self._table.path)
        if digest is None:
            return array("q")
        keys = None if sure else self._file.read_keys(digest)
        if keys is None:
            keys = self._table.list_keys()
        keys = keys[keys != TOMBSTONE]
        keys.sort()
        return array("q", keys.tobytes())

    def maintain(self) -> None:
        """Compact and drop old versions when it pays, and refresh what readers map.

        Raises:
            IoError: The file system refused.
            StoreCorrupt: The table cannot be read.
        """
        before = layout.read_table_digest(self._table.path)
        if before is None:
            return
        # Whoever wrote nothing in this run has nothing to tidy, and need not import LanceDB.
        if self._table.is_open and self._table.maintain():
            self._follow(before, self._file.update_digest)
        if not self._current():
            self._rebuild()

    def _follow(self, before: bytes | None, step: Callable[[bytes, bytes], None]) -> None:
        """Let the vector_file follow a commit; when that fails it is merely out of date."""
        after = layout.read_table_digest(self._table.path)
        if after is not None:
            with suppress(OSError):
                step(before or b"", after)

    def _current(self) -> bool:
        digest = layout.read_table_digest(self._table.path)
        keys = self._file.read_keys(digest) if digest else None
        if keys is None:
            return False
        return int((keys == TOMBSTONE).sum()) <= len(keys) * _MAX_TOMBSTONE_SHARE
