"""The sidecar: all vectors of a table in one file that readers map into memory.

It is derived, and it may be lost at any time. Its header names the state of the table that it
equals, and is written last, so that a torn or outdated file is never taken for a current one.
"""

import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from kebab.errors.dependency import needed
from kebab.store.lance.layout import FEATURE
from kebab.store.lance.pages import forget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.vector import Matrix

    Keys: TypeAlias = NDArray[np.int64]
    Batch: TypeAlias = tuple[Keys, Matrix]
    Records: TypeAlias = NDArray[np.void]

DEAD = -1
"""The key of a row that was deleted in place."""

_MAGIC = b"kebabvec"
_LAYOUT = 1
_FIELDS = struct.Struct("<8sIIQ16s")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = 64
LARGE, PART_OF_LARGE = 100_000, 1 << 15
"""From how many rows on a file is not held in memory as a whole by who reads it once, and how many
are held then: fifty megabytes. To map pages twice takes longer, so smaller files are held.
"""

_PART = 4096
"""How many rows are read at once: six megabytes."""


class Header(NamedTuple):
    """How many rows stand in the file, and which state of the table they equal."""

    dimension: int
    rows: int
    stamp: bytes

    def pack(self) -> bytes:
        """Return the header's bytes."""
        fields = _FIELDS.pack(_MAGIC, _LAYOUT, self.dimension, self.rows, self.stamp)
        return (fields + _CHECKSUM.pack(zlib.crc32(fields))).ljust(_HEADER_BYTES, b"\0")

    @staticmethod
    def unpack(raw: bytes) -> "Header | None":
        """Return the header that bytes hold, or None when they hold none."""
        if len(raw) != _HEADER_BYTES:
            return None
        (checksum,) = _CHECKSUM.unpack_from(raw, _FIELDS.size)
        magic, layout, dimension, rows, stamp = _FIELDS.unpack_from(raw)
        known = (magic, layout) == (_MAGIC, _LAYOUT)
        intact = checksum == zlib.crc32(raw[: _FIELDS.size])
        return Header(dimension, rows, stamp) if known and intact else None


class Sidecar:
    """The file of one table; every method leaves it equal to some state of the table."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._held: tuple[bytes, Keys] | None = None

    def header(self) -> Header | None:
        """Return the header of an intact file of this dimension."""
        try:
            with self._path.open("rb") as file:
                header = Header.unpack(file.read(_HEADER_BYTES))
                size = os.fstat(file.fileno()).st_size
        except OSError:
            return None
        if header is None or header.dimension != self._dimension:
            return None
        return header if size >= self._end(header.rows) else None

    def map(self, stamp: bytes) -> "Batch | None":
        """Return the keys and the mapped vectors if the file equals this state of the table.

        A file that cannot be mapped is as good as none: the table itself can still be read.
        """
        header = self.header()
        if header is None or header.stamp != stamp:
            return None
        try:
            records = self._records(header.rows, writable=False)
        except (OSError, ValueError):
            return None
        return _copied_keys(records), records["vector"]

    def keys(self, stamp: bytes) -> "Keys | None":
        """Return the keys if the file equals this state of the table, dead rows included.

        The file is read part by part: mapped, its vectors would all be held in memory as well.
        It is read once, and the keys follow from then on whatever is done through this object.
        """
        header = self.header()
        if header is None or header.stamp != stamp:
            return None
        if self._held is None or self._held[0] != stamp:
            try:
                self._held = stamp, self._keys(header.rows)
            except (OSError, ValueError):
                return None
        return self._held[1]

    def take(self, stamp: bytes, wanted: "Keys") -> "Batch | None":
        """Return the rows of these keys if the file equals this state of the table.

        Only these rows are read, and none is left in memory.
        """
        import numpy as np

        keys = self.keys(stamp)
        if keys is None:
            return None
        places = np.flatnonzero(np.isin(keys, wanted))
        records = np.empty(len(places), self._dtype())
        try:
            with self._path.open("rb") as file:
                for number, place in enumerate(places.tolist()):
                    file.seek(self._end(place))
                    records[number] = np.fromfile(file, self._dtype(), 1)[0]
        except (OSError, IndexError):
            return None
        return records["key"], records["vector"]

    def create(self, stamp: bytes, batches: "Iterable[Batch]") -> None:
        """Write the whole file beside the old one, then take its place.

        Raises:
            OSError: The folder cannot be written.
        """
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(bytes(_HEADER_BYTES))
                rows = 0
                for keys, matrix in batches:
                    file.write(self._pack(keys, matrix))
                    rows += len(keys)
                file.seek(0)
                file.write(Header(self._dimension, rows, stamp).pack())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)

    def extend(self, before: bytes, after: bytes, batch: "Batch") -> None:
        """Follow the table from one state to the next by adding rows, if the file is at the first.

        Raises:
            OSError: The file cannot be written.
        """
        header = self.header()
        if header is None or header.stamp != before:
            return
        import numpy as np

        keys, matrix = batch
        with self._path.open("r+b") as file:
            file.seek(self._end(header.rows))
            file.write(self._pack(keys, matrix))
            file.flush()
            os.fsync(file.fileno())
            _finish(file.fileno(), Header(self._dimension, header.rows + len(keys), after))
        self._hold(before, after, lambda held: np.concatenate([held, keys]))

    def bury(self, before: bytes, after: bytes, keys: "Keys") -> None:
        """Follow the table by deleting rows in place.

        Raises:
            OSError: The file cannot be written.
        """
        import numpy as np

        header, held = self.header(), self.keys(before)
        if header is None or held is None:
            return
        buried = np.isin(held, keys)
        self._records(header.rows, writable=True)["key"][np.flatnonzero(buried)] = DEAD
        self.restamp(before, after)
        self._hold(after, after, lambda held: np.where(buried, DEAD, held))

    def restamp(self, before: bytes, after: bytes) -> None:
        """Follow the table through a commit that left its rows as they were.

        Raises:
            OSError: The file cannot be written.
        """
        header = self.header()
        if header is None or header.stamp != before:
            return
        with self._path.open("r+b") as file:
            _finish(file.fileno(), header._replace(stamp=after))
        self._hold(before, after, lambda held: held)

    def remove(self) -> None:
        """Delete the file.

        Raises:
            OSError: The folder cannot be written.
        """
        self._path.unlink(missing_ok=True)

    def _hold(self, before: bytes, after: bytes, step: "Callable[[Keys], Keys]") -> None:
        """Let the keys that are held follow from one state to the next."""
        if self._held is not None and self._held[0] == before:
            self._held = after, step(self._held[1])

    def _keys(self, rows: int) -> "Keys":
        import numpy as np

        found = np.full(rows, DEAD, np.int64)
        with self._path.open("rb") as file:
            file.seek(_HEADER_BYTES)
            for start in range(0, rows, _PART):
                part = np.fromfile(file, self._dtype(), min(_PART, rows - start))
                found[start : start + len(part)] = part["key"]
        return found

    def _end(self, rows: int) -> int:
        return _HEADER_BYTES + rows * self._dtype().itemsize

    def _dtype(self) -> "np.dtype[np.void]":
        with needed(FEATURE, "numpy"):
            import numpy as np

        return np.dtype([("key", "<i8"), ("vector", "<f4", (self._dimension,))])

    def _records(self, rows: int, *, writable: bool) -> "Records":
        import numpy as np

        if rows == 0:
            return np.empty(0, self._dtype())
        mode: Literal["r", "r+"] = "r+" if writable else "r"
        # A plain name: numpy would look up what the links of a path lead to.
        return np.memmap(str(self._path), self._dtype(), mode, _HEADER_BYTES, (rows,))

    def _pack(self, keys: "Keys", matrix: "Matrix") -> bytes:
        import numpy as np

        records = np.empty(len(keys), self._dtype())
        records["key"] = keys
        records["vector"] = matrix
        return records.tobytes()


def _copied_keys(records: "Records") -> "Keys":
    """Return the keys of mapped records; of a large file, without holding it all in memory."""
    import numpy as np

    if len(records) <= LARGE:
        return np.array(records["key"])
    keys = np.empty(len(records), np.int64)
    for start in range(0, len(records), PART_OF_LARGE):
        keys[start : start + PART_OF_LARGE] = records["key"][start : start + PART_OF_LARGE]
        forget(records)
    return keys


def _finish(file: int, header: Header) -> None:
    os.pwrite(file, header.pack(), 0)
