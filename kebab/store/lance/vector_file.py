"""The sidecar: all vectors of a table in one file that readers map into memory.

It is derived, and it may be lost at any time. Its header names the state of the table that it
equals, and is written last, so that a torn or outdated file is never taken for a current one.
"""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from kebab.errors.system import translate_import_errors
from kebab.store.lance.layout import FEATURE, HEADER_BYTES, Header, forget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix

    Keys: TypeAlias = NDArray[np.int64]
    Batch: TypeAlias = tuple[Keys, Matrix]
    Records: TypeAlias = NDArray[np.void]

DEAD = -1
"""The key of a row that was deleted in place."""

LARGE, PART_OF_LARGE = 100_000, 1 << 14
"""From how many rows on a file is not held in memory as a whole by who reads it once, and how many
are held then: 25 megabytes. To map pages twice takes longer, so smaller files are held.
"""

_PART = 4096
"""How many rows are read at once: six megabytes."""


class _State(NamedTuple):
    """Which rows a file holds: of a state of the table, at their places in this very file."""

    stamp: bytes
    inode: int
    rows: int


class Sidecar:
    """The file of one table; every method leaves it equal to some state of the table.

    Whatever is read or written goes through one open file: another process may put a new file in
    its place at any time, with the same rows at other places.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension
        self._held: tuple[_State, Keys] | None = None

    def header(self) -> Header | None:
        """Return the header of an intact file of this dimension."""
        try:
            with self._path.open("rb") as file:
                return self._header(file)
        except OSError:
            return None

    def map(self, stamp: bytes) -> "Batch | None":
        """Return the keys and the mapped vectors if the file equals this state of the table.

        A file that cannot be mapped is as good as none: the table itself can still be read.
        """
        try:
            with self._path.open("rb") as file:
                header = self._at(file, stamp)
                records = None if header is None else self._records(file, header.rows)
        except (OSError, ValueError):
            return None
        return None if records is None else (_copied_keys(records), records["vector"])

    def keys(self, stamp: bytes) -> "Keys | None":
        """Return the keys if the file equals this state of the table, dead rows included.

        The file is read part by part: mapped, its vectors would all be held in memory as well.
        It is read once, and the keys follow what is done to it through this object.
        """
        try:
            with self._path.open("rb") as file:
                header = self._at(file, stamp)
                return None if header is None else self._keys(file, header)
        except (OSError, ValueError):
            return None

    def take(self, stamp: bytes, wanted: "Keys") -> "Batch | None":
        """Return the rows of these keys if the file equals this state of the table.

        Only these rows are read, and none is left in memory.
        """
        try:
            with self._path.open("rb") as file:
                header = self._at(file, stamp)
                return None if header is None else self._rows(file, header, wanted)
        except (OSError, IndexError, ValueError):
            return None

    def create(self, stamp: bytes, batches: "Iterable[Batch]") -> None:
        """Write the whole file beside the old one, then take its place.

        Raises:
            OSError: The folder cannot be written.
        """
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
        import numpy as np

        keys, matrix = batch
        with self._opened(before) as opened:
            if opened is None:
                return
            file, header = opened
            file.seek(self._end(header.rows))
            file.write(self._pack(keys, matrix))
            file.flush()
            os.fsync(file.fileno())
            followed = Header(self._dimension, header.rows + len(keys), after)
            followed.write(file)
            self._hold(file, header, followed, lambda held: np.concatenate([held, keys]))

    def bury(self, before: bytes, after: bytes, keys: "Keys") -> None:
        """Follow the table by deleting rows in place.

        Raises:
            OSError: The file cannot be written.
        """
        import numpy as np

        with self._opened(before) as opened:
            if opened is None:
                return
            file, header = opened
            buried = np.isin(self._keys(file, header), keys)
            records = self._records(file, header.rows, "r+")
            records["key"][np.flatnonzero(buried)] = DEAD
            followed = header._replace(stamp=after)
            followed.write(file)
            self._hold(file, header, followed, lambda held: np.where(buried, DEAD, held))

    def restamp(self, before: bytes, after: bytes) -> None:
        """Follow the table through a commit that left its rows as they were.

        Raises:
            OSError: The file cannot be written.
        """
        with self._opened(before) as opened:
            if opened is None:
                return
            file, header = opened
            followed = header._replace(stamp=after)
            followed.write(file)
            self._hold(file, header, followed, lambda held: held)

    def remove(self) -> None:
        """Delete the file.

        Raises:
            OSError: The folder cannot be written.
        """
        self._path.unlink(missing_ok=True)

    @contextmanager
    def _opened(self, stamp: bytes) -> "Iterator[tuple[BinaryIO, Header] | None]":
        """Open the file to be written, with its header; None when it is at another state."""
        try:
            file = self._path.open("r+b")
        except FileNotFoundError:
            yield None
            return
        with file:
            header = self._at(file, stamp)
            yield None if header is None else (file, header)

    def _header(self, file: "BinaryIO") -> Header | None:
        file.seek(0)
        header = Header.unpack(file.read(HEADER_BYTES))
        if header is None or header.dimension != self._dimension:
            return None
        return header if os.fstat(file.fileno()).st_size >= self._end(header.rows) else None

    def _at(self, file: "BinaryIO", stamp: bytes) -> Header | None:
        """Return the header if the file equals this state of the table."""
        header = self._header(file)
        return header if header is not None and header.stamp == stamp else None

    def _hold(
        self, file: "BinaryIO", before: Header, after: Header, step: "Callable[[Keys], Keys]"
    ) -> None:
        """Let the keys that are held follow from one state of a file to the next."""
        if self._held is not None and self._held[0] == _state(file, before):
            self._held = _state(file, after), step(self._held[1])

    def _keys(self, file: "BinaryIO", header: Header) -> "Keys":
        """Return the keys of a file; they are held until it is at another state."""
        state = _state(file, header)
        if self._held is None or self._held[0] != state:
            self._held = state, self._read_keys(file, header.rows)
        return self._held[1]

    def _read_keys(self, file: "BinaryIO", rows: int) -> "Keys":
        import numpy as np

        found = np.full(rows, DEAD, np.int64)
        file.seek(HEADER_BYTES)
        for start in range(0, rows, _PART):
            part = np.fromfile(file, self._dtype(), min(_PART, rows - start))
            found[start : start + len(part)] = part["key"]
        return found

    def _rows(self, file: "BinaryIO", header: Header, wanted: "Keys") -> "Batch":
        import numpy as np

        places = np.flatnonzero(np.isin(self._keys(file, header), wanted))
        records = np.empty(len(places), self._dtype())
        for number, place in enumerate(places.tolist()):
            file.seek(self._end(place))
            records[number] = np.fromfile(file, self._dtype(), 1)[0]
        return records["key"], records["vector"]

    def _end(self, rows: int) -> int:
        return HEADER_BYTES + rows * self._dtype().itemsize

    def _dtype(self) -> "np.dtype[np.void]":
        with translate_import_errors(FEATURE, "numpy"):
            import numpy as np

        return np.dtype([("key", "<i8"), ("vector", "<f4", (self._dimension,))])

    def _records(self, file: "BinaryIO", rows: int, mode: 'Literal["r", "r+"]' = "r") -> "Records":
        import numpy as np

        if rows == 0:
            return np.empty(0, self._dtype())
        return np.memmap(file, self._dtype(), mode, HEADER_BYTES, (rows,))

    def _pack(self, keys: "Keys", matrix: "Matrix") -> bytes:
        import numpy as np

        records = np.empty(len(keys), self._dtype())
        records["key"] = keys
        records["vector"] = matrix
        return records.tobytes()


def _state(file: "BinaryIO", header: Header) -> _State:
    return _State(header.stamp, os.fstat(file.fileno()).st_ino, header.rows)


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
