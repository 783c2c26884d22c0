"""Contains the vector file, which readers map into memory, and where the index is stored.

The file has all vectors of a table. It is derived from the table and may be lost at any time. Its
header names the state of the table that it equals and is written last, so a torn or outdated file
never counts as current.
"""

import mmap
import os
import re
import shutil
import struct
import zlib
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from kebab.core.ids import compute_digest
from kebab.errors.system import build_io_error, translate_import_errors
from kebab.platform import can_remove_open_files, release_mapped_pages, rename_over, write_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import BinaryIO

    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix

    KeyArray: TypeAlias = NDArray[np.int64]
    Batch: TypeAlias = tuple[KeyArray, Matrix]
    Records: TypeAlias = NDArray[np.void]

T = TypeVar("T")

FEATURE = "the vector index"
"""The feature that needs the libraries of this package, for messages."""

_FOLDER = "lance"
_STAMP_BYTES = 16
_OWN = re.compile(r"\.?fastembed-[A-Za-z0-9._-]+\.(?:lance|gone|f32(?:\.\d+)?)")
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


def get_vector_file_path(data_dir: Path, version: str) -> Path:
    """Return the path of the file that readers map instead of opening the table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.f32"


def is_own(name: str) -> bool:
    """Return whether only kebab gives this name to an entry of the folder; drafts count."""
    return _OWN.fullmatch(name) is not None


def list_leftovers(folder: Path, versions: "Collection[str]") -> list[Path]:
    """Return what killed runs have left in the folder of all tables, and nothing of these versions.

    Raises:
        OSError: The file system refused.
    """
    kept = {
        f"{build_table_name(version)}{end}" for version in versions for end in (".lance", ".f32")
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
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            with suppress(PermissionError):  # some systems keep a file that is open
                path.unlink(missing_ok=True)


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


HEADER_BYTES = 64

_MAGIC = b"kebabvec"
_LAYOUT = 1
_FIELDS = struct.Struct("<8sIIQ16s")
_CHECKSUM = struct.Struct("<I")


class Header(NamedTuple):
    """The number of rows in a vector file and the state of the table that they equal."""

    dimension: int
    rows: int
    table_digest: bytes

    def pack(self) -> bytes:
        """Return the header's bytes."""
        fields = _FIELDS.pack(_MAGIC, _LAYOUT, self.dimension, self.rows, self.table_digest)
        return (fields + _CHECKSUM.pack(zlib.crc32(fields))).ljust(HEADER_BYTES, b"\0")

    @staticmethod
    def unpack(raw: bytes) -> "Header | None":
        """Return the header in some bytes, or None when they are not a header."""
        if len(raw) != HEADER_BYTES:
            return None
        (checksum,) = _CHECKSUM.unpack_from(raw, _FIELDS.size)
        magic, layout, dimension, rows, digest = _FIELDS.unpack_from(raw)
        known = (magic, layout) == (_MAGIC, _LAYOUT)
        intact = checksum == zlib.crc32(raw[: _FIELDS.size])
        return Header(dimension, rows, digest) if known and intact else None

    def write(self, file: "BinaryIO") -> None:
        """Write the header into a file; the caller has written the rows."""
        write_at(file.fileno(), self.pack(), 0)


def release_pages(array: Any) -> None:
    """Release the pages of a mapped array from the memory of this process.

    They stay in the page cache of the system. An array that is not mapped, or a system without
    `madvise`, changes nothing.
    """
    owner = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None:
        release_mapped_pages(owner)


TOMBSTONE = -1
"""The key of a row that was deleted in place."""
_TOMBSTONE_BYTES = struct.pack("<q", TOMBSTONE)

LARGE_ROWS, LARGE_PART_ROWS = 100_000, 1 << 14
"""A file with more rows than the first is read in parts of the second (25 MB), to save memory.

Mapping pages twice takes longer, so smaller files are held as a whole.
"""

_READ_ROWS = 4096
"""How many rows are read at once (6 MB)."""


class _FileState(NamedTuple):
    """Identifies the rows of one file at one state of the table."""

    table_digest: bytes
    inode: int
    rows: int


class VectorFile:
    """The file of one table; every method leaves it equal to some state of the table.

    Every method uses one open file, because another process may replace the file at any time by
    one with the same rows in another order. Methods that write raise `OSError`, methods that read
    return None instead.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._cached_keys: tuple[_FileState, KeyArray] | None = None

    def exists(self) -> bool:
        """Return whether there is a file, at whatever state of the table."""
        return self._path.exists()

    def map_vectors(self, digest: bytes) -> "Batch | None":
        """Return the keys and the mapped vectors if the file equals this state of the table.

        It also returns None for a file that cannot be mapped, because the table can still be read.
        """
        return self._read_at(digest, self._map_batch)

    def map_copies(self) -> "Batch | None":
        """Return the keys and the mapped vectors of a whole file at whatever state of the table.

        A key is never given twice, so its vector is right even if the table has changed since.
        """
        return self._read_at(None, self._map_batch)

    def read_keys(self, digest: bytes) -> "KeyArray | None":
        """Return all keys, tombstones included, if the file equals this state of the table.

        The file is read in parts, because mapping it would hold its vectors in memory as well. The
        keys stay cached and follow the updates made through this object.
        """
        return self._read_at(digest, self._get_keys)

    def read_rows(self, digest: bytes, wanted: "KeyArray") -> "Batch | None":
        """Return the rows of these keys, and read only these, if the file equals this state."""
        return self._read_at(digest, lambda file, header: self._read_rows(file, header, wanted))

    def _read_at(self, digest: bytes | None, read: "Callable[[BinaryIO, Header], T]") -> "T | None":
        try:
            with self._path.open("rb") as file:
                header = self._read_header_at(file, digest)
                return None if header is None else read(file, header)
        except (OSError, IndexError, ValueError):
            return None

    def _map_batch(self, file: "BinaryIO", header: Header) -> "Batch":
        records = self._map_records(file, header.rows)
        return _copy_keys(records), records["vector"]

    def write(self, digest: bytes, batches: "Iterable[Batch]") -> None:
        """Write a new file beside the old one, then replace the old one."""
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(bytes(HEADER_BYTES))
                rows = 0
                for keys, matrix in batches:
                    file.write(self._pack(keys, matrix))
                    rows += len(keys)
                file.seek(0)
                file.write(Header(self._dimension, rows, digest).pack())
                file.flush()
                os.fsync(file.fileno())
            rename_over(draft, self._path)
        finally:
            draft.unlink(missing_ok=True)

    def append_rows(self, before: bytes, after: bytes, batch: "Batch") -> None:
        """Add rows and move the file from one state of the table to the next."""
        import numpy as np

        keys, matrix = batch
        with self._open_for_update(before) as opened:
            if opened is None:
                return
            file, header = opened
            file.seek(self._get_offset(header.rows))
            file.write(self._pack(keys, matrix))
            file.flush()
            os.fsync(file.fileno())
            followed = Header(self._dimension, header.rows + len(keys), after)
            self._write_header(file, header, followed, lambda old: np.concatenate([old, keys]))

    def delete_rows(self, before: bytes, after: bytes, keys: "KeyArray") -> None:
        """Write tombstones over rows and move the file to the next state of the table."""
        import numpy as np

        with self._open_for_update(before) as opened:
            if opened is None:
                return
            file, header = opened
            deleted = np.isin(self._get_keys(file, header), keys)
            for row in np.flatnonzero(deleted).tolist():
                write_at(file.fileno(), _TOMBSTONE_BYTES, self._get_offset(row))
            os.fsync(file.fileno())
            followed = header._replace(table_digest=after)
            self._write_header(
                file, header, followed, lambda old: np.where(deleted, TOMBSTONE, old)
            )

    def update_digest(self, before: bytes, after: bytes) -> None:
        """Move the file to the next state of the table, which has the same rows."""
        with self._open_for_update(before) as opened:
            if opened is None:
                return
            file, header = opened
            followed = header._replace(table_digest=after)
            self._write_header(file, header, followed, lambda old: old)

    def delete_file(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)

    @contextmanager
    def _open_for_update(self, digest: bytes) -> "Iterator[tuple[BinaryIO, Header] | None]":
        """Open the file for writing, with its header; yield None when it is at another state."""
        try:
            file = self._path.open("r+b")
        except FileNotFoundError:
            yield None
            return
        with file:
            header = self._read_header_at(file, digest)
            yield None if header is None else (file, header)

    def _read_header_at(self, file: "BinaryIO", digest: bytes | None) -> Header | None:
        """Return the header if the file is whole and equals this state of the table, or any."""
        file.seek(0)
        header = Header.unpack(file.read(HEADER_BYTES))
        if header is None or header.dimension != self._dimension:
            return None
        if digest not in {None, header.table_digest}:
            return None
        return header if os.fstat(file.fileno()).st_size >= self._get_offset(header.rows) else None

    def _write_header(
        self,
        file: "BinaryIO",
        before: Header,
        after: Header,
        step: "Callable[[KeyArray], KeyArray]",
    ) -> None:
        """Write the header after its rows, and apply the change to the cached keys."""
        after.write(file)
        if self._cached_keys is not None and self._cached_keys[0] == _get_state(file, before):
            self._cached_keys = _get_state(file, after), step(self._cached_keys[1])

    def _get_keys(self, file: "BinaryIO", header: Header) -> "KeyArray":
        """Return the keys of a file; they stay cached until it is at another state."""
        state = _get_state(file, header)
        if self._cached_keys is None or self._cached_keys[0] != state:
            import numpy as np

            keys = np.full(header.rows, TOMBSTONE, np.int64)
            file.seek(HEADER_BYTES)
            for start in range(0, header.rows, _READ_ROWS):
                part = np.fromfile(file, self._build_dtype(), min(_READ_ROWS, header.rows - start))
                keys[start : start + len(part)] = part["key"]
            self._cached_keys = state, keys
        return self._cached_keys[1]

    def _read_rows(self, file: "BinaryIO", header: Header, wanted: "KeyArray") -> "Batch":
        import numpy as np

        rows = np.flatnonzero(np.isin(self._get_keys(file, header), wanted))
        records = np.empty(len(rows), self._build_dtype())
        for index, row in enumerate(rows.tolist()):
            file.seek(self._get_offset(row))
            records[index] = np.fromfile(file, self._build_dtype(), 1)[0]
        return records["key"], records["vector"]

    def _get_offset(self, rows: int) -> int:
        return HEADER_BYTES + rows * self._build_dtype().itemsize

    def _build_dtype(self) -> "np.dtype[np.void]":
        with translate_import_errors(FEATURE, "numpy"):
            import numpy as np

        return np.dtype([("key", "<i8"), ("vector", "<f4", (self._dimension,))])

    def _map_records(self, file: "BinaryIO", rows: int) -> "Records":
        import numpy as np

        if rows == 0:
            return np.empty(0, self._build_dtype())
        if not can_remove_open_files():
            file.seek(HEADER_BYTES)
            return np.fromfile(file, self._build_dtype(), rows)
        return np.memmap(file, self._build_dtype(), "r", HEADER_BYTES, (rows,))

    def _pack(self, keys: "KeyArray", matrix: "Matrix") -> bytes:
        import numpy as np

        records = np.empty(len(keys), self._build_dtype())
        records["key"] = keys
        records["vector"] = matrix
        return records.tobytes()


def _get_state(file: "BinaryIO", header: Header) -> _FileState:
    return _FileState(header.table_digest, os.fstat(file.fileno()).st_ino, header.rows)


def _copy_keys(records: "Records") -> "KeyArray":
    """Return the keys of mapped records; a large file is never in memory as a whole."""
    import numpy as np

    if len(records) <= LARGE_ROWS:
        return np.array(records["key"])
    keys = np.empty(len(records), np.int64)
    for start in range(0, len(records), LARGE_PART_ROWS):
        keys[start : start + LARGE_PART_ROWS] = records["key"][start : start + LARGE_PART_ROWS]
        release_pages(records)
    return keys
