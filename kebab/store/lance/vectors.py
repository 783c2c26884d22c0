"""Contains the vector index of one embedding version: its reader and its writer."""

import os
import time
import zlib
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, KeyedScore
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
from kebab.store.lance.binary_index import open_binary_index
from kebab.store.lance.engine import (
    ADDRESS_SPACE,
    LanceTable,
    load_rows,
    preload_lancedb,
    rebuild_key_file,
)
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.key_file import TOMBSTONE, KeyFile, RunFinder
from kebab.store.stamps import FileState

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.store.lance.key_file import Parts

_FOLLOW_S, _FOLLOW_STEP_S = 1.0, 0.005
"""How long a reader waits for the key file after a commit, and in which steps.

A writer takes some 20 ms from the commit to the file, and .4 s after it has compacted 100,000 rows.
To rebuild the file, a reader would have to import LanceDB first, which takes a second.
"""


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
        self._signs = key_file.get_binary_index_path(data_dir, version)
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
            files = self._file.path, self._signs, *self._path.glob("data/*")
            self._files = FileState([*map(str, files)])
            self._digest, parts = self._load(digest)
            axes = self._load_axes()
            signs = open_binary_index(self._signs, self._dimension, axes)
            self._loaded = ExactIndex(*parts, axes, signs)
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

    From `approximate_from` vectors on it keeps a binary index; 0 means never.

    Every method raises `IoError` when the file system refuses and `StoreCorrupt` when the table
    cannot be read.
    """

    def __init__(
        self,
        data_dir: Path,
        version: str,
        dimension: int,
        *,
        approximate_from: int = 0,
        load_axes: "Callable[[], Matrix | None]" = lambda: None,
    ) -> None:
        super().__init__(data_dir, version, dimension, load_axes=load_axes)
        self._approximate_from = approximate_from
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
        for path in (self._file.path, self._signs):
            with suppress(OSError):
                path.unlink()
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
        files = [str(self._file.path), str(self._signs)]
        facts = [str(self._approximate_from)]
        with translate_os_errors(self._path, "read"):
            for folder, _, names in os.walk(self._path):
                files += [f"{folder}/{name}" for name in names]
            for path in sorted(files):
                with suppress(FileNotFoundError):
                    stat = os.stat(path)  # noqa: PTH116 - every run does it; `Path` takes twice as long
                    name = path.rpartition("/")[2]
                    facts.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
        return compute_digest(*facts)

    def check_binary_index(self) -> str | None:
        """Read every row; return the fault of the binary index, an empty text when it has none.

        It is None when there is no binary index.
        """
        index = self.load_index()
        if index is None or not self._signs.exists():
            return None
        return index.find_binary_fault() if index.is_approximate else "cannot be read"

    def maintain(self, tick: Callable[[int, int], object] = lambda *_: None) -> None:
        """Compact and drop old versions when it pays, and refresh the files that readers map.

        `tick` gets how many vectors of a new binary index are done.
        """
        # A run that wrote nothing has nothing to compact and need not import LanceDB.
        if self._table.is_open:
            self._table.maintain(self._refresh_file)
        self._refresh_file()
        index = self.load_index()
        if index is None or not 0 < self._approximate_from <= index.count():
            with suppress(OSError):
                self._signs.unlink()
        elif not index.has_fresh_binary_index():
            # Without it search is merely slower.
            with suppress(OSError):
                index.write_binary(self._signs, tick)

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
