"""Contains the key file, which says where the vectors of a table are, and the index's folder.

LanceDB stores vectors without compression, one after the other, so readers map its data files. The
key file names the runs of rows in them, with the key and a checksum of each. It is derived from the
table and may be lost at any time. It has a checksum and names the state of the table that it
equals, so a torn or outdated file never counts as current.
"""

import mmap
import os
import re
import zlib
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from kebab.core.durable import DerivedFile, delete_path
from kebab.core.ids import compute_digest
from kebab.errors.system import build_io_error, translate_import_errors
from kebab.platform import advise_map, can_remove_open_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import BinaryIO

    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix

    KeyArray: TypeAlias = NDArray[np.int64]
    Batch: TypeAlias = tuple[KeyArray, Matrix]
    Records: TypeAlias = NDArray[np.void]
    Parts: TypeAlias = "tuple[KeyArray, list[Matrix]]"

T = TypeVar("T")

FEATURE = "the vector index"
"""The feature that needs the libraries of this package, for messages."""

_FOLDER = "lance"
_STAMP_BYTES = 16
# Earlier versions had a copy of the vectors in `.f32` files.
_OWN = re.compile(r"\.?fastembed-[A-Za-z0-9._-]+\.(?:lance|gone|(?:keys|binary|f32)(?:\.\d+)?)")
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


def get_table_path(data_dir: Path, version: str) -> Path:
    """Return the folder of a table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.lance"


def get_key_file_path(data_dir: Path, version: str) -> Path:
    """Return the path of the file that readers use instead of opening the table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.keys"


def get_binary_index_path(data_dir: Path, version: str) -> Path:
    """Return the path of the binary index of a table, which large tables have."""
    return get_key_file_path(data_dir, version).with_suffix(".binary")


def is_own(name: str) -> bool:
    """Return whether only kebab gives this name to an entry of the folder; drafts count."""
    return _OWN.fullmatch(name) is not None


def list_leftovers(folder: Path, versions: "Collection[str]") -> list[Path]:
    """Return what killed runs have left in the folder of all tables, and nothing of these versions.

    Raises:
        OSError: The file system refused.
    """
    kept = {
        f"{build_table_name(version)}{end}"
        for version in versions
        for end in (".lance", ".keys", ".binary")
    }
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in found if is_own(path.name) and path.name not in kept]


def delete_leftovers(folder: Path, versions: "Collection[str]") -> None:
    """Delete what killed runs have left in the folder of all tables, and nothing of these versions.

    A reader whose draft is deleted reads the table instead.

    Raises:
        OSError: The file system refused.
    """
    for path in list_leftovers(folder, versions):
        with suppress(PermissionError):  # some systems keep a file that is open
            delete_path(path)


def list_manifests(table: Path) -> list[Path]:
    """Return the manifests of a table, the latest first.

    Raises:
        IoError: The file system refused.
    """
    try:
        files = [path for path in (table / "_versions").iterdir() if path.suffix == ".manifest"]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise build_io_error(fault, "read", table) from fault
    manifests = [path for path in files if path.stem.isdecimal()]
    return sorted(manifests, key=_parse_version, reverse=True)


def _parse_version(path: Path) -> int:
    """Return a table version; names of 20 digits count down, so that listings start newest."""
    number = int(path.stem)
    return _HIGHEST - number if len(path.stem) == _NEWEST_FIRST_DIGITS else number


def read_table_digest(table: Path) -> bytes | None:
    """Return a digest that changes with every commit to a table; None when there is no table.

    Raises:
        IoError: The file system refused.
    """
    for manifest in list_manifests(table):
        try:
            return blake2b(manifest.read_bytes(), digest_size=_STAMP_BYTES).digest()
        except FileNotFoundError:
            continue  # the writer has deleted it meanwhile; an older one will not match
        except OSError as fault:
            raise build_io_error(fault, "read", manifest) from fault
    return None


TOMBSTONE = -1
"""The key of a row that was deleted."""

LARGE_ROWS, RUN_ROWS = 100_000, 1 << 14
"""An index with more rows than the first is read run by run, to save memory.

A run has about the second number of rows at most (25 MB). Mapping pages twice takes longer, so
smaller indexes are held as a whole.
"""

_HOLE_ROWS = 1_000
"""So many deleted rows stay in a run; behind more another one begins."""

_ROWS_AT_ONCE = 64
"""How many rows are compared at once."""

_MAGIC = b"kebabkeys 1 "


class Run(msgspec.Struct, frozen=True, array_like=True):
    """Rows whose vectors lie one after the other in a data file of the table.

    A data file never changes, so its `size` tells whether it is whole. `packed` has the key of each
    row and the CRC-32 of its vector.
    """

    file: str
    size: int
    offset: int
    packed: bytes

    @property
    def rows(self) -> "Records":
        """The rows as an array that cannot be written."""
        import numpy as np

        return np.frombuffer(self.packed, _build_dtype())


class _Contents(msgspec.Struct, array_like=True):
    """The runs of a table at one state."""

    dimension: int
    table_digest: bytes
    runs: list[Run]


def _build_dtype() -> "np.dtype[np.void]":
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    return np.dtype([("key", "<i8"), ("checksum", "<u4")])


class RunFinder:
    """Finds rows in the data files of a table, as LanceDB does not tell where it has stored them.

    The newest files come first, because compaction writes rows anew and the old files will go.
    """

    def __init__(self, table: Path) -> None:
        self._folder = table / "data"
        self._waiting: list[Path] = []
        self._opened: dict[str, mmap.mmap] = {}
        self._file, self._start, self._end = "", 0, 0
        self._rows: list[Records] = []

    def find_runs(self, batches: "Iterable[Batch]") -> "Iterator[Run]":
        """Yield the runs of rows, in their order.

        Raises:
            LookupError: A vector is in none of the files.
            OSError: A file cannot be read.
        """
        files = [(path.stat(), path) for path in self._folder.glob("*.lance")]
        files.sort(key=lambda file: file[0].st_mtime_ns)
        self._waiting = [
            path for status, path in files if status.st_size
        ]  # others cannot be mapped
        for keys, matrix in batches:
            done = 0
            while done < len(keys):
                if sum(map(len, self._rows)) >= RUN_ROWS:
                    yield from self._end_run()
                if count := self._count_next(matrix[done : done + _ROWS_AT_ONCE]):
                    self._add(keys[done : done + count], matrix[done : done + count])
                    done += count
                else:
                    yield from self._move(matrix[done].tobytes())
        yield from self._end_run()

    def _count_next(self, matrix: "Matrix") -> int:
        """Return how many of these vectors come next in the file."""
        import numpy as np

        data = self._opened.get(self._file, b"")
        count = min(len(matrix), (len(data) - self._end) // matrix[0].nbytes)
        if count <= 0:
            return 0
        stored = np.frombuffer(data, "<u4", count * matrix.shape[1], self._end)
        wanted = np.ascontiguousarray(matrix[:count], "<f4").view("<u4")
        differs = (stored.reshape(wanted.shape) != wanted).any(axis=1)
        return int(differs.argmax()) if differs.any() else count

    def _add(self, keys: "KeyArray", matrix: "Matrix") -> None:
        """Add the next rows to the run."""
        import numpy as np

        rows = np.empty(len(keys), _build_dtype())
        rows["key"], rows["checksum"] = keys, [zlib.crc32(vector) for vector in matrix]
        self._rows.append(rows)
        self._end += matrix.nbytes

    def _move(self, vector: bytes) -> "Iterator[Run]":
        """Go to the place of a vector; yield the run that cannot be continued there.

        Raises:
            LookupError: The vector is in none of the files.
        """
        import numpy as np

        file, offset = self._find(vector)
        holes, rest = divmod(offset - self._end, len(vector))
        if file == self._file and not rest and 0 <= holes <= _HOLE_ROWS:
            self._rows.append(np.array([(TOMBSTONE, 0)] * holes, _build_dtype()))
        else:
            yield from self._end_run()
            self._file, self._start = file, offset
        self._end = offset

    def _find(self, vector: bytes) -> tuple[str, int]:
        """Return the file and the offset of a vector, behind the last one if it is there."""
        data = self._opened.get(self._file)
        if data is not None and (found := data.find(vector, self._end)) >= 0:
            return self._file, found
        while self._waiting:
            path = self._waiting.pop()
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._opened[path.name] = data
            if (found := data.find(vector)) >= 0:
                return path.name, found
        # A vector that is stored several times may be before a place where it was found.
        for name, data in self._opened.items():
            if (found := data.find(vector)) >= 0:
                return name, found
        raise LookupError("a vector is not stored as it is")

    def _end_run(self) -> "Iterator[Run]":
        if self._rows:
            packed = b"".join(rows.tobytes() for rows in self._rows)
            yield Run(self._file, len(self._opened[self._file]), self._start, packed)
            self._rows, self._start = [], self._end


class KeyFile:
    """The file of one table; every method leaves it equal to some state of the table.

    It is always replaced as a whole: for a million rows it has 12 MB. Methods that write raise
    `OSError`, methods that read return None instead.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self._file = DerivedFile(path, _MAGIC)
        self._dimension = dimension

    def map_vectors(self, digest: bytes) -> "Parts | None":
        """Return the keys and the mapped vectors if the file equals this state of the table.

        It also returns None when a data file cannot be mapped, because the table can still be read.
        """
        return self._read_at(digest, lambda runs: join_parts(map(self._map_run, runs)))

    def map_copies(self) -> "Parts | None":
        """Return the keys and the intact vectors that are left, at whatever state of the table.

        A key is never given twice, so its vector is right even if the table has changed since.
        """
        return self._read_at(None, lambda runs: join_parts(map(self._map_intact_rows, runs)))

    def read_rows(self, digest: bytes) -> "Records | None":
        """Return the rows, tombstones included, if the file equals this state of the table."""
        return self._read_at(digest, _join_rows)

    def _read_at(self, digest: bytes | None, read: "Callable[[list[Run]], T]") -> "T | None":
        """Return what `read` gets from the runs if the file is at this state, or at any."""
        try:
            raw = self._file.read()
            contents = msgspec.msgpack.decode(raw, type=_Contents) if raw is not None else None
            is_current = contents is not None and digest in {None, contents.table_digest}
            if contents is None or contents.dimension != self._dimension or not is_current:
                return None
            return read(contents.runs)
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _map_run(self, run: Run) -> "Batch":
        """Return the keys and the vectors of a run.

        Raises:
            OSError: The data file cannot be read.
            ValueError: It is not the file of the run.
        """
        import numpy as np

        with self._open_data_file(run) as file:
            if os.fstat(file.fileno()).st_size != run.size:
                raise ValueError("the data file is another one")
            shape = len(run.rows), self._dimension
            if can_remove_open_files():
                matrix: Matrix = np.asarray(np.memmap(file, "<f4", "r", run.offset, shape))
            else:
                file.seek(run.offset)
                matrix = np.fromfile(file, "<f4", len(run.rows) * self._dimension).reshape(shape)
        return run.rows["key"], matrix

    def _map_intact_rows(self, run: Run) -> "Batch":
        """Return the keys and the vectors of a run that have their checksum."""
        import numpy as np

        matrix = np.zeros((len(run.rows), self._dimension), np.float32)
        with suppress(OSError), self._open_data_file(run) as file:
            file.seek(run.offset)
            left = np.fromfile(file, "<f4", matrix.size)
            matrix.reshape(-1)[: len(left)] = left
        checksums = np.array([zlib.crc32(vector.tobytes()) for vector in matrix])
        intact = checksums == run.rows["checksum"]
        return run.rows["key"][intact], matrix[intact]

    def _open_data_file(self, run: Run) -> "BinaryIO":
        return (self.path.with_suffix(".lance") / "data" / run.file).open("rb")

    def write(self, digest: bytes, runs: "Iterable[Run]") -> None:
        """Write a new file beside the old one, then replace the old one."""
        contents = _Contents(self._dimension, digest, list(runs))
        self._file.write(msgspec.msgpack.encode(contents))

    def append_runs(self, before: bytes | None, after: bytes, runs: "Iterable[Run]") -> None:
        """Add runs and move the file from one state of the table, or from none, to the next."""
        old = [] if before is None else self._read_at(before, list)
        if old is not None:
            self.write(after, [*old, *runs])

    def delete_rows(self, before: bytes, after: bytes, keys: "KeyArray") -> None:
        """Put tombstones in the place of rows and move the file to the next state of the table."""
        import numpy as np

        old = self._read_at(before, list)
        if old is not None:
            runs = []
            for run in old:
                rows = run.rows.copy()
                rows["key"][np.isin(rows["key"], keys)] = TOMBSTONE
                runs.append(msgspec.structs.replace(run, packed=rows.tobytes()))
            self.write(after, runs)


def join_parts(batches: "Iterable[Batch]") -> "Parts":
    """Return the keys of batches as one array, and the vectors of each batch."""
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    keys, matrices = [np.empty(0, np.int64)], []
    for part, matrix in batches:
        keys.append(part)
        matrices.append(matrix)
    return np.concatenate(keys), matrices


def _join_rows(runs: "Iterable[Run]") -> "Records":
    import numpy as np

    return np.frombuffer(b"".join(run.packed for run in runs), _build_dtype())


def advise_pages(array: Any, advice: str) -> None:
    """Give the system an advice on the pages of a mapped array.

    `DONTNEED` releases them from the memory of this process; they stay in the page cache of the
    system. With `RANDOM` it reads single pages, with `NORMAL` pages ahead. An array that is not
    mapped, or a system without `madvise`, changes nothing.
    """
    owner = array
    while owner is not None and not hasattr(owner, "madvise"):
        owner = getattr(owner, "base", None)
    if owner is not None:
        advise_map(owner, advice)
