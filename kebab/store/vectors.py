"""Contains the vectors of a knowledge base: the snapshot that readers map, and the writer.

LanceDB holds the vectors. After a write the writer saves the rows of the table as two files of
numpy, the keys in rising order and their vectors, named by the version of the table. Readers map
the newest and compare exactly, in 32 bits. Without one they read the table.

The order of a write is: the table, the snapshot, the mark in the database. So every vector that the
database marks is in the newest snapshot, also while a later commit still lacks its own. The disk
has both when the snapshot is saved.
"""

import os
import re
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.core.chunks import (
    NO_BACKGROUND,
    CosineBackground,
    Key,
    KeyedScore,
    Keys,
    compute_digest,
    remove_language,
    sort_keys,
)
from kebab.core.documents import VectorRow
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_import_errors, translate_os_errors
from kebab.platform import delete_path, replace_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix, Vector
    from kebab.store.lance import HalfMatrix, KeyArray, LanceTable

    Positions: TypeAlias = NDArray[np.intp]
    Scores: TypeAlias = NDArray[np.float32]

_KEYS, _VECTORS = ".keys.npy", ".vectors.npy"
_HEADER_BYTES, _COMPONENT_BYTES = 128, 2
"""The header of an npy file of such rows, and a component."""
_OWN = re.compile(r"\.?[A-Za-z0-9._-]+\.(?:lance|gone|keys|binary|npy)(?:\.\d+)?")
"""Matches what kebab writes into the folder of tables, drafts and files of earlier builds too."""


def get_tables_folder(data_dir: Path) -> Path:
    """Return the folder of all tables; it is absolute, as LanceDB reads relative paths as URLs."""
    return Path(os.path.realpath(data_dir)) / "lance"


def build_table_name(version: str) -> str:
    """Return the table name of an embedding version, which is a valid file name."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", version)
    return safe if safe == version else f"{safe}-{compute_digest(version, size=4)}"


def is_own(name: str) -> bool:
    """Return whether only kebab gives this name to an entry of the folder of tables."""
    return _OWN.fullmatch(name) is not None


def list_vector_files(data_dir: Path, version: str) -> list[Path]:
    """Return the files of the newest snapshot, the keys and the vectors; none without one."""
    folder, start = get_tables_folder(data_dir), f"{build_table_name(version)}-"
    pattern = re.compile(rf"{re.escape(start)}(\d+){re.escape(_VECTORS)}")
    with suppress(OSError):
        names = [path.name for path in folder.iterdir()]
        if found := [int(one[1]) for one in map(pattern.fullmatch, names) if one]:
            return [folder / f"{start}{max(found)}{end}" for end in (_KEYS, _VECTORS)]
    return []


class MappedVectors:
    """The vectors of an embedding version, for readers."""

    def __init__(
        self,
        data_dir: Path,
        version: str,
        dimension: int,
        load_axes: "Callable[[], Matrix | None]" = lambda: None,
    ) -> None:
        self._find_snapshot = partial(list_vector_files, data_dir, version)
        self._folder = get_tables_folder(data_dir)
        self._name = build_table_name(version)
        self.path = self._folder / f"{self._name}.lance"
        """The folder of the table; the first row creates it."""
        self._dimension = dimension
        self._load_axes = load_axes
        self._state: list[Path] | int | None = None
        self._loaded: ExactIndex | None = None

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the stored vectors of those of these chunks that have one."""
        index = self.load_index()
        return index.get(keys) if index else {}

    def load_index(self) -> "ExactIndex | None":
        """Return the index of the newest state, which never changes; None without a table."""
        state = self._find_snapshot() or self._table.read_version()
        if state is None:
            self._loaded = None
        elif state != self._state:
            rows = self._map_snapshot() or _sort_rows(*self._table.read())
            self._loaded = ExactIndex(*rows, self._load_axes())
        self._state = state
        return self._loaded

    @cached_property
    def _table(self) -> "LanceTable":
        from kebab.store.lance import LanceTable

        return LanceTable(self.path, self._dimension)

    def _map_snapshot(self) -> "tuple[KeyArray, HalfMatrix] | None":
        """Return the mapped rows of the newest snapshot; None without one that can be read."""
        with translate_import_errors("the vector index", "numpy"):
            import numpy as np

        # A writer may delete it at any time; what is mapped stays.
        with suppress(OSError, ValueError, EOFError):
            keys, vectors = (
                np.load(path, mmap_mode="r", allow_pickle=False) for path in self._find_snapshot()
            )
            shape = (len(keys), self._dimension or vectors.shape[-1])
            if (keys.dtype, vectors.dtype, vectors.shape) == (np.int64, np.float16, shape):
                return keys, vectors
        return None


def _sort_rows(keys: "KeyArray", vectors: "HalfMatrix") -> "tuple[KeyArray, HalfMatrix]":
    """Return rows by rising key; of a repeated key the last row counts."""
    import numpy as np

    if (keys[1:] > keys[:-1]).all():
        return keys, vectors
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    last = order[np.append(ordered[1:] != ordered[:-1], True)]
    return keys[last], vectors[last]


class LanceVectors(MappedVectors):
    """A `VectorWriter`; the caller holds the writer lock of the data directory.

    The newest snapshot has every vector that counts, so a table that cannot be read is made anew
    from it. Every method raises `IoError` when the file system refuses.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._added: list[VectorRow] = []
        self._deleted: set[Key] = set()

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows with the next `save`."""
        self._added += rows

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks with the next `save`."""
        self._deleted.update(keys)

    def save(self) -> None:
        """Write what was added and deleted, and the snapshot; compact the table when it pays."""
        added, deleted = self._added, self._deleted
        self._added, self._deleted = [], set()
        number = self._restore_table()
        if not added and (number is None or (not deleted and self._read_keys(number) is not None)):
            return
        try:
            self._write(added, deleted)
        except StoreCorrupt:
            self.rebuild()
            stored = set(self.list_keys(verify=True))  # the first attempt may have added them
            added = [row for row in added if row.key not in stored]
            if added or stored:
                self._write(added, deleted)

    def _write(self, added: list[VectorRow], deleted: set[Key]) -> None:
        import numpy as np

        if added:
            keys = np.array([row.key for row in added], np.int64)
            self._table.add(keys, np.array([row.vector for row in added], np.float16))
        self._table.delete(deleted)
        self._table.compact()
        self._save_snapshot()

    def _save_snapshot(self) -> None:
        """Write the snapshot of the newest version when the table is durable; delete others."""
        import numpy as np

        self._table.sync()
        number = self._table.read_version()
        assert number is not None, "there is a table"
        rows = _sort_rows(*self._table.read())
        with translate_os_errors(self._folder, "write"):
            # The vectors come last: they make the snapshot complete.
            files = self._name_files(number)
            for path, column in zip(files, rows, strict=True):
                with replace_file(path) as file:
                    np.save(file, np.asarray(column), allow_pickle=False)
        self.delete_others(files)

    def rebuild(self) -> None:
        """Make the table anew: of its newest snapshot, else of its rows if they can be read."""
        rows = self._map_snapshot()
        with suppress(StoreCorrupt):
            rows = rows or self._table.read()
        with translate_os_errors(self.path, "write"):
            delete_path(self.path)
        if rows is None or not len(rows[0]):
            self.delete_others(())
            return
        self._table.add(*rows)
        self._save_snapshot()

    def delete_others(self, snapshot: Collection[Path] | None = None) -> None:
        """Delete what is not of the table or a snapshot, the newest; what is mapped stays."""
        kept = {self.path, *(self._find_snapshot() if snapshot is None else snapshot)}
        with translate_os_errors(self._folder, "write"):
            for path in list(self._folder.iterdir()) if self._folder.is_dir() else []:
                if is_own(path.name) and path not in kept:
                    with suppress(PermissionError):  # some systems keep a file that is open
                        delete_path(path)

    def list_keys(self, *, verify: bool = False) -> Keys:
        """Return the key of every row in rising order; `verify` reads the table itself.

        Raises:
            StoreCorrupt: The table cannot be read, or `verify` finds only its snapshot.
        """
        number = self._table.read_version() if verify else self._restore_table()
        if number is None and not self._find_snapshot():
            return array("q")
        found = None if verify or number is None else self._read_keys(number)
        return sort_keys(self._table.read()[0].tolist()) if found is None else found

    def _restore_table(self) -> int | None:
        """Return the newest version of the table, which is made anew if only a snapshot is left."""
        if self._table.read_version() is None and self._find_snapshot():
            self.rebuild()
        return self._table.read_version()

    def _name_files(self, number: int) -> list[Path]:
        return [self._folder / f"{self._name}-{number}{end}" for end in (_KEYS, _VECTORS)]

    def _read_keys(self, number: int) -> "Keys | None":
        """Return the keys of a snapshot; None when one of its files is missing or cut.

        To import numpy takes longer than the rest of an ingest that finds nothing new.
        """
        keys, vectors = self._name_files(number)
        with suppress(OSError, ValueError):
            found = array("q", keys.read_bytes()[_HEADER_BYTES:])
            size = vectors.stat().st_size - _HEADER_BYTES
            if size == len(found) * self._dimension * _COMPONENT_BYTES or not self._dimension:
                return found
        return None


_BLOCK_ROWS = 8_192
"""How many rows are converted and compared at once: they fit into the cache of a processor."""

_DECIMALS = 6
_STEP = 10.0**-_DECIMALS
_GATHER_BELOW = 4

_LEAST_SQUARE = 1e-6
"""No vector is taken for shorter, so that a damaged one divides nothing by zero."""

_SAMPLE = 2000
"""How many evenly spaced vectors, about, stand for all of them."""


class ExactIndex:
    """The exact search over the rows of one snapshot, by rising key.

    With `axes`, cosines compare what `remove_language` leaves of two vectors. The passages keep
    their stored vectors: only the length of what is left of each is computed.
    """

    def __init__(
        self, keys: "KeyArray", vectors: "HalfMatrix", axes: "Matrix | None" = None
    ) -> None:
        self._keys = keys
        self._vectors = vectors
        self._axes = axes
        self._last: tuple[Vector, Scores] | None = None

    def count(self) -> int:
        """Return how many keys the index holds."""
        return len(self._keys)

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the keys of highest cosine, ties by key."""
        import numpy as np

        found = None if allowed is None else self._find_positions(allowed)
        keys = self._keys if found is None else self._keys[found]
        if limit <= 0 or not len(keys):
            return []
        scores = self._score_all(query) if found is None else self._score(query, found)
        if limit < len(keys):
            floor = np.partition(scores, len(keys) - limit)[len(keys) - limit]
            # A score that rounds to the same as the last one may win by its key.
            best = np.flatnonzero(scores >= floor - _STEP)
            keys, scores = keys[best], scores[best]
        cosines = _round_cosines(scores)
        order = np.lexsort((keys, -cosines))[:limit]
        return list(zip(keys[order].tolist(), cosines[order].tolist(), strict=True))

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these keys that the index holds."""
        found = self._find_positions(keys)
        scores = _round_cosines(self._score(query, found)).tolist()
        return dict(zip(self._keys[found].tolist(), scores, strict=True))

    def measure_background(self, query: "Vector") -> CosineBackground:
        """Return the mean and the deviation of the cosines of evenly spaced keys."""
        import numpy as np

        count = len(self._keys)
        if not count:
            return NO_BACKGROUND
        scores = self._score(query, np.arange(0, count, max(1, count // _SAMPLE)))
        with np.errstate(all="ignore"):  # a damaged vector gives no number
            mean, deviation = float(scores.mean()), float(scores.std())
        known = np.isfinite(mean) and np.isfinite(deviation)
        return CosineBackground(count, mean, deviation) if known else NO_BACKGROUND

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return copies of the vectors of those of these keys that the index holds."""
        found = self._find_positions(keys)
        vectors = self._vectors[found].astype("float32")
        return dict(zip(self._keys[found].tolist(), vectors, strict=True))

    def _find_positions(self, keys: Collection[Key]) -> "Positions":
        import numpy as np

        wanted = np.unique(np.fromiter(keys, np.int64, len(keys)))
        positions = np.searchsorted(self._keys, wanted)
        inside = positions < len(self._keys)
        positions, wanted = positions[inside], wanted[inside]
        found: Positions = positions[self._keys[positions] == wanted]
        return found

    def _score(self, query: "Vector", found: "Positions") -> "Scores":
        """Return the scores of some positions; score all rows at once when that is cheaper."""
        remembered = self._last is not None and self._last[0] is query
        if remembered or len(found) * _GATHER_BELOW >= len(self._keys):
            return self._score_all(query)[found]
        return self._compare(query, self._vectors[found])

    def _score_all(self, query: "Vector") -> "Scores":
        """Return the scores of all positions; those of the last query are kept."""
        if self._last is None or self._last[0] is not query:
            self._last = query, self._compare(query, self._vectors)
        return self._last[1]

    def _compare(self, query: "Vector", vectors: "HalfMatrix") -> "Scores":
        """Return the product of a query with what is left of each vector."""
        import numpy as np

        asked = remove_language(query, self._axes)
        scores = np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            block = vectors[part].astype("float32")
            # One core is as fast as the memory, and a threaded product of a block is slower.
            scores[part] = np.vecdot(block, asked)
            if self._axes is not None:
                removed = block @ self._axes.T
                # A damaged vector may be longer than 1.
                left = np.maximum(1.0 - np.vecdot(removed, removed), _LEAST_SQUARE)
                scores[part] /= np.sqrt(left)
        return scores


def _round_cosines(scores: "Scores") -> "NDArray[np.float64]":
    """Return cosines, rounded so that equal vectors score equally on every machine."""
    import numpy as np

    wide: NDArray[np.float64] = np.asarray(scores, np.float64)
    return np.clip(np.round(wide, _DECIMALS), -1.0, 1.0)
