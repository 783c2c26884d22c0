"""Contains the vector index of one embedding version: its exact search, and its writer."""

import os
import time
import zlib
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, KeyedScore, remove_language
from kebab.core.documents import VectorRow
from kebab.core.durable import sync_names
from kebab.core.ids import Key, Keys, compute_digest
from kebab.errors.system import (
    import_library,
    require_address_space,
    translate_import_errors,
    translate_os_errors,
)
from kebab.store.lance import key_file
from kebab.store.lance.engine import (
    ADDRESS_SPACE,
    LanceTable,
    load_rows,
    preload_lancedb,
    rebuild_key_file,
)
from kebab.store.lance.key_file import (
    LARGE_ROWS,
    TOMBSTONE,
    KeyFile,
    RunFinder,
    release_pages,
)
from kebab.store.stamps import FileState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix, Vector
    from kebab.store.lance.key_file import KeyArray, Parts

    Positions: TypeAlias = NDArray[np.intp]
    Scores: TypeAlias = NDArray[np.float32]

_DECIMALS = 6
_STEP = 10.0**-_DECIMALS
_GATHER_BELOW = 4

_FOLLOW_S, _FOLLOW_STEP_S = 1.0, 0.005
"""How long a reader waits for the key file after a commit, and in which steps.

A writer takes some 20 ms from the commit to the file, and .4 s after it has compacted 100,000 rows.
To rebuild the file, a reader would have to import LanceDB first, which takes a second.
"""

_LEAST_SQUARE = 1e-6
"""No vector is taken for shorter, so that a damaged one divides nothing by zero."""

_SAMPLE = 2000
"""How many evenly spaced vectors, about, stand for all of them."""


class ExactIndex:
    """The `Vectors` of one state of the table; of repeated keys the last row counts.

    The vectors come in parts, in the order of the keys. With `axes`, cosines compare what
    `remove_language` leaves of two vectors. The passages keep their stored vectors: only the length
    of what is left of each is computed.
    """

    def __init__(
        self, keys: "KeyArray", parts: "Sequence[Matrix]", axes: "Matrix | None" = None
    ) -> None:
        self._parts = parts
        self._stored = len(keys)
        self._axes = axes
        self._lengths: Scores | None = None
        self._keys, self._rows = _sort_live_keys(keys)
        self._last: tuple[Vector, Scores] | None = None
        self._whole = self._stored <= LARGE_ROWS
        """Whether all vectors are held in memory: not for the first query of a large index."""

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
        if limit <= 0 or len(keys) == 0:
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
        vectors = self._load_vectors(self._get_rows(found))
        return dict(zip(self._keys[found].tolist(), vectors, strict=True))

    def find_missing(self, keys: Keys) -> list[Key]:
        """Return which of these keys the index does not hold."""
        import numpy as np

        wanted = np.array(keys, np.int64)
        return [Key(key) for key in np.setdiff1d(wanted, self._keys).tolist()]

    def _find_positions(self, keys: Collection[Key]) -> "Positions":
        import numpy as np

        wanted = np.unique(np.fromiter(keys, np.int64, len(keys)))
        positions = np.searchsorted(self._keys, wanted)
        inside = positions < len(self._keys)
        positions, wanted = positions[inside], wanted[inside]
        found: Positions = positions[self._keys[positions] == wanted]
        return found

    def _get_rows(self, found: "Positions") -> "Positions":
        return found if self._rows is None else self._rows[found]

    def _score(self, query: "Vector", found: "Positions") -> "Scores":
        """Return the scores of some positions; score all rows at once when that is cheaper."""
        last = self._last
        remembered = last is not None and last[0] is query
        if remembered or len(found) * _GATHER_BELOW >= self._stored:
            return self._score_all(query)[found]
        import numpy as np

        rows = self._load_vectors(self._get_rows(found))
        products: Scores = np.vecdot(rows, remove_language(query, self._axes))
        return products / self._measure_lengths(rows)

    def _measure_lengths(self, rows: "Matrix") -> "Scores":
        """Return the length of what `remove_language` leaves of unit vectors."""
        import numpy as np

        if self._axes is None:
            return np.ones(len(rows), np.float32)
        removed = rows @ self._axes.T
        # A damaged vector may be longer than 1.
        left = np.maximum(1.0 - np.einsum("ij,ij->i", removed, removed), _LEAST_SQUARE)
        lengths: Scores = np.sqrt(left)
        return lengths

    def _load_vectors(self, rows: "Positions") -> "Matrix":
        import numpy as np

        starts = np.cumsum([0, *map(len, self._parts)])
        numbers = np.searchsorted(starts, rows, "right") - 1
        dimension = self._parts[0].shape[1] if self._parts else 0
        found = np.empty((len(rows), dimension), np.float32)
        for number in np.unique(numbers).tolist():
            wanted = numbers == number
            part = self._parts[number]
            found[wanted] = part[rows[wanted] - starts[number]]
            # With each row the system maps up to two megabytes of the file around it.
            if not self._whole:
                release_pages(part)
        return found

    def _score_all(self, query: "Vector") -> "Scores":
        """Return the scores of all positions; the scores of the last query stay cached."""
        if self._last is not None:
            if self._last[0] is query:
                return self._last[1]
            self._whole = True
        import numpy as np

        asked = remove_language(query, self._axes)
        products, lengths = [np.empty(0, np.float32)], [np.empty(0, np.float32)]
        for part in self._parts:
            # One core is as fast as the memory, and a threaded product of each part is slower.
            products.append(np.vecdot(part, asked))
            if self._lengths is None:
                lengths.append(self._measure_lengths(part))
            if not self._whole:
                release_pages(part)
        if self._lengths is None:
            self._lengths = np.concatenate(lengths)
        scores: Scores = np.concatenate(products) / self._lengths
        if self._rows is not None:
            scores = scores[self._rows]
        self._last = (query, scores)
        return scores


def _sort_live_keys(keys: "KeyArray") -> "tuple[KeyArray, Positions | None]":
    """Return the live keys in rising order, each with its last row; None means row by row."""
    import numpy as np

    # KeyArray that strictly rise have no repeated one and no tombstone.
    if not len(keys) or (keys[0] > TOMBSTONE and (keys[1:] > keys[:-1]).all()):
        return keys, None
    live = np.flatnonzero(keys != TOMBSTONE)
    order = live[np.argsort(keys[live], kind="stable")]
    ordered = keys[order]
    last = np.ones(len(ordered), np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], order[last]


def _round_cosines(scores: "Scores") -> "NDArray[np.float64]":
    """Return cosines, rounded so that equal vectors score equally on every machine."""
    import numpy as np

    wide: NDArray[np.float64] = np.asarray(scores, np.float64)
    return np.clip(np.round(wide, _DECIMALS), -1.0, 1.0)


class MappedVectors:
    """`Vectors` of one embedding version; every call sees the latest state of the table.

    With `keep` the key file, when it is missing, is written for the next reader. `load_axes`
    returns the language axes of the model, if it has any.
    """

    def __init__(
        self,
        data_dir: Path,
        version: str,
        dimension: int,
        *,
        keep: bool = True,
        load_axes: "Callable[[], Matrix | None]" = lambda: None,
    ) -> None:
        self._data_dir = data_dir
        self._version = version
        self._dimension = dimension
        self._keep = keep
        self._load_axes = load_axes
        self._path = key_file.get_table_path(data_dir, version)
        self._file = KeyFile(key_file.get_key_file_path(data_dir, version), dimension)
        self._digest: bytes | None = None
        self._files: FileState | None = None
        self._loaded: ExactIndex | None = None

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the chunks of highest cosine; filters apply before the limit.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        index = self.load_index()
        return index.find_nearest(query, limit, allowed) if index else []

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these chunks that have a vector."""
        index = self.load_index()
        return index.compute_cosines(query, keys) if index else {}

    def measure_background(self, query: "Vector") -> CosineBackground:
        """Return the mean and the deviation of the cosines of evenly spaced keys."""
        index = self.load_index()
        return index.measure_background(query) if index else NO_BACKGROUND

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the stored vectors of those of these chunks that have one."""
        index = self.load_index()
        return index.get(keys) if index else {}

    def count(self) -> int:
        """Return how many chunks have a vector."""
        index = self.load_index()
        return index.count() if index else 0

    def load_index(self) -> ExactIndex | None:
        """Return the index of the latest state, which never changes; None without a table.

        A mapped file that was cut off would end the process, and one that was written over would
        give wrong cosines, so the files are mapped again when one may have changed.

        Raises:
            StoreCorrupt: The table cannot be read.
        """
        digest = self._read_digest()
        if digest is None or digest != self._digest or not (self._files and self._files.holds()):
            self._loaded = None
        if digest is not None and self._loaded is None:
            self._files = FileState([*map(str, (self._file.path, *self._path.glob("data/*")))])
            self._digest, parts = self._load(digest)
            self._loaded = ExactIndex(*parts, self._load_axes())
        return self._loaded

    def _load(self, digest: bytes) -> "tuple[bytes, Parts]":
        """Return the rows of the latest state, and its digest."""
        deadline = time.monotonic() + _FOLLOW_S
        mapped = self._file.map_vectors(digest)
        while mapped is None and self._is_file_followed() and time.monotonic() < deadline:
            time.sleep(_FOLLOW_STEP_S)
            digest = self._read_digest() or digest
            mapped = self._file.map_vectors(digest)
        # Without a current file, write one, or else read the table into memory.
        rebuilds = mapped is None and self._keep
        if rebuilds and rebuild_key_file(self._data_dir, self._version, self._dimension):
            mapped = self._file.map_vectors(digest)
        return digest, mapped or load_rows(self._data_dir, self._version, self._dimension)

    def _is_file_followed(self) -> bool:
        """Return whether a writer has just committed and is about to change the key file."""
        manifests = key_file.list_manifests(self._path)
        try:
            age = time.time() - manifests[0].stat().st_mtime
        except (IndexError, OSError):
            return bool(manifests)
        return self._file.path.exists() and abs(age) < _FOLLOW_S

    def _read_digest(self) -> bytes | None:
        return key_file.read_table_digest(self._path)


MAX_LENGTH_ERROR = 0.01


class LanceVectors(MappedVectors):
    """A `VectorWriter`; the caller holds the writer lock of the data directory.

    Every method raises `IoError` when the file system refuses and `StoreCorrupt` when the table
    cannot be read.
    """

    def __init__(self, data_dir: Path, version: str, dimension: int) -> None:
        super().__init__(data_dir, version, dimension)
        self._table = LanceTable(data_dir, version, dimension)

    def _is_file_followed(self) -> bool:
        return False  # by this object alone, in the same call

    def prepare(self) -> None:
        """Start to import LanceDB in a thread, so that the first write waits less.

        Raises:
            DependencyMissing: numpy cannot be imported.
        OutOfMemory: There is not enough address space for it.
        """
        require_address_space(ADDRESS_SPACE)
        # The model imports numpy as well; two threads that import it at once both fail.
        import_library("numpy", key_file.FEATURE, "numpy")
        with suppress(RuntimeError):  # no thread can be started
            Thread(target=preload_lancedb, name="lancedb").start()

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows in one commit and return when they are durable."""
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        if not rows:
            return
        keys = np.array([row.key for row in rows], np.int64)
        matrix = np.array([row.vector for row in rows], np.float32)
        before = self._read_digest()
        is_new = self._table.append(rows)
        runs = RunFinder(self._table.path).find_runs([(keys, matrix)])
        started = None if is_new else before or b""
        self._follow(lambda digest: self._file.append_runs(started, digest, runs))

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks."""
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        before = self._read_digest()
        if not keys or before is None:
            return
        self._table.delete(keys)
        deleted = np.fromiter(keys, np.int64, len(keys))
        self._follow(lambda digest: self._file.delete_rows(before, digest, deleted))

    def clear(self) -> None:
        """Delete every row, and the files that held them."""
        self._table.drop()
        with suppress(OSError):
            self._file.path.unlink()
        sync_names(self._table.path.parent)

    def restore(self) -> None:
        """Go back to the newest state that can be read as a whole; without one delete every row."""
        if not self._table.restore():
            self.clear()

    def delete_leftovers(self, versions: Collection[str]) -> None:
        """Delete what killed runs left: files of other versions than these, and drafts."""
        folder = key_file.get_tables_folder(self._data_dir)
        with translate_os_errors(folder, "write"):
            key_file.delete_leftovers(folder, versions)

    def list_keys(self, *, verify: bool = False) -> Keys:
        """Return the key of every row in rising order; `verify` reads the table itself."""
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        digest = self._read_digest()
        if digest is None:
            return array("q")
        rows = None if verify else self._file.read_rows(digest)
        keys = self._table.list_keys() if rows is None else rows["key"]
        keys = np.sort(keys[keys != TOMBSTONE])
        return array("q", keys.tobytes())

    def find_damaged_keys(self) -> set[Key]:
        """Return the keys whose vector has not length 1 or not the checksum of the key file."""
        if self._read_digest() is None or not self._dimension:
            return set()
        return self._table.read_latest(self._find_damaged_keys)

    def _find_damaged_keys(self) -> set[Key]:
        with translate_import_errors(key_file.FEATURE, "numpy"):
            import numpy as np

        digest = self._read_digest()
        rows = self._file.read_rows(digest) if digest else None
        checksums = {} if rows is None else dict(rows.tolist())
        damaged, differing = set[Key](), set[Key]()
        for keys, matrix in self._table.iterate_batches():
            with np.errstate(all="ignore"):
                intact = np.abs(np.einsum("ij,ij->i", matrix, matrix) - 1.0) < MAX_LENGTH_ERROR
            damaged.update(keys[~intact].tolist())
            if checksums:
                differing.update(
                    Key(key)
                    for key, vector in zip(keys.tolist(), matrix, strict=True)
                    if checksums.get(key) != zlib.crc32(vector)
                )
        # A writer that was at work in between has written other rows than the file names.
        return damaged | differing if self._read_digest() == digest else damaged

    def load_copies(self) -> ExactIndex | None:
        """Return the intact vectors, also of a table that is lost; None without the key file."""
        found = self._file.map_copies()
        return ExactIndex(*found) if found else None

    def describe_files(self) -> str:
        """Return a digest of the name, size and time of every file of the index."""
        files = [str(self._file.path)]
        facts = []
        with translate_os_errors(self._path, "read"):
            for folder, _, names in os.walk(self._path):
                files += [f"{folder}/{name}" for name in names]
            for path in sorted(files):
                with suppress(FileNotFoundError):
                    stat = os.stat(path)  # noqa: PTH116 - every run does it; `Path` takes twice as long
                    name = path.rpartition("/")[2]
                    facts.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
        return compute_digest(*facts)

    def maintain(self) -> None:
        """Compact and drop old versions when it pays, and refresh the key file."""
        # A run that wrote nothing has nothing to compact and need not import LanceDB.
        if self._table.is_open:
            self._table.maintain(self._refresh_file)
        self._refresh_file()

    def _refresh_file(self) -> None:
        digest = self._read_digest()
        if digest is not None and self._file.map_vectors(digest) is None:
            rebuild_key_file(self._data_dir, self._version, self._dimension)

    def _follow(self, step: Callable[[bytes], None]) -> None:
        """Let the key file follow a commit; after a failure it is merely out of date."""
        after = self._read_digest()
        if after is not None:
            with suppress(OSError, LookupError):
                step(after)
