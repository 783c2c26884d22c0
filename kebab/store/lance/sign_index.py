"""Contains the sign index, which finds the nearest of very many vectors without reading them all.

It has one bit for each component of a vector: whether it is above the mean of all vectors. Vectors
whose bits differ least from the signs of a query are candidates; the caller compares them exactly,
so the index decides what is compared, and no score. (Binary quantisation, as in Charikar,
Similarity estimation techniques from rounding algorithms, 2002.)

The file names vectors by their keys, which are never given twice, so it stays right when the table
is compacted. It is derived from the vectors and may be lost at any time.
"""

import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kebab.core.durable import replace_file
from kebab.errors.system import translate_import_errors
from kebab.platform import can_remove_open_files
from kebab.store.lance.key_file import FEATURE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix, Vector
    from kebab.store.lance.key_file import KeyArray

    Signs: TypeAlias = NDArray[np.uint64]

ROWS_AT_ONCE = 1 << 16
"""How many rows are compared or written at once: their bits fit into the cache of a processor."""

_MAGIC = b"kebabsigns 1 "
_NUMBER = 4
_WORD_BITS, _WORD_BYTES = 64, 8
_ALIGNMENT = 64


class _Header(msgspec.Struct, array_like=True):
    """The size of the index, the checksum of its body, and the mean of the vectors.

    `axes` is the checksum of the language axes without which the vectors were compared.
    """

    rows: int
    dimension: int
    axes: int
    body: int
    mean: bytes


class SignIndex:
    """The keys and the signs of many vectors; `mean` is subtracted from a vector, not a query.

    The keys rise. `planes` has 64 signs of each vector per row, so that a comparison reads memory
    in its order.
    """

    def __init__(self, keys: "KeyArray", mean: "Vector", planes: "Signs", checksum: int) -> None:
        self.keys = keys
        self._mean = mean
        self._planes = planes
        self._checksum = checksum

    def find_candidates(
        self, query: "Vector", wanted: int, allowed: "KeyArray | None" = None
    ) -> "KeyArray":
        """Return the keys whose signs differ least from those of a query, with all equal ones.

        Filters apply before the cut.
        """
        import numpy as np

        asked = _compute_signs(query[None, :], np.zeros_like(query))[0]
        distances = np.empty(len(self.keys), np.uint16)
        for start in range(0, len(self.keys), ROWS_AT_ONCE):
            part = distances[start : start + ROWS_AT_ONCE]
            part[:] = 0
            for plane, word in zip(self._planes, asked, strict=True):
                part += np.bitwise_count(plane[start : start + len(part)] ^ word)
        keys = self.keys
        if allowed is not None:
            inside = np.isin(keys, allowed, assume_unique=True)
            keys, distances = keys[inside], distances[inside]
        reached = np.cumsum(np.bincount(distances, minlength=1))
        found: KeyArray = keys[distances <= np.searchsorted(reached, wanted)]
        return found

    def is_intact(self) -> bool:
        """Return whether the file is as it was written."""
        return _compute_checksum(self.keys, self._planes) == self._checksum

    def agrees(self, places: "NDArray[np.intp]", rows: "Matrix") -> bool:
        """Return whether vectors have the signs at these places."""
        import numpy as np

        return np.array_equal(self._planes[:, places], _compute_signs(rows, self._mean).T)


def open_sign_index(path: Path, dimension: int, axes: "Matrix | None") -> SignIndex | None:
    """Return the index of a file, mapped into memory; None when there is none for these vectors."""
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    with suppress(OSError, ValueError, msgspec.MsgspecError), path.open("rb") as file:
        start = file.read(len(_MAGIC) + 2 * _NUMBER)
        length, checksum = np.frombuffer(start[len(_MAGIC) :], "<u4").tolist()
        packed = file.read(length)
        if not start.startswith(_MAGIC) or zlib.crc32(packed) != checksum:
            return None
        header = msgspec.msgpack.decode(packed, type=_Header)
        words = -(-dimension // _WORD_BITS)
        body = _align(len(start) + len(packed))
        size = body + header.rows * _WORD_BYTES * (words + 1)
        is_right = (header.dimension, header.axes) == (dimension, _compute_checksum(axes))
        if not is_right or os.fstat(file.fileno()).st_size != size:
            return None
        shape = words + 1, header.rows
        if can_remove_open_files():
            table = np.asarray(np.memmap(file, "<u8", "r", body, shape))
        else:
            file.seek(body)
            table = np.fromfile(file, "<u8").reshape(shape)
        mean = np.frombuffer(header.mean, "<f4")
        return SignIndex(table[0].view("<i8"), mean, table[1:], header.body)
    return None


def write_sign_index(
    path: Path,
    keys: "KeyArray",
    sample: "Matrix",
    load: "Callable[[int, int], Matrix]",
    axes: "Matrix | None",
    tick: Callable[[int, int], object],
) -> None:
    """Write the index of vectors by rising key in place of an older one.

    `sample` stands for all vectors; `load` returns those from one position to another. `tick` gets
    how many of them are done.

    Raises:
        OSError: The file system refused; the old file stays.
    """
    import numpy as np

    mean, count, dimension = sample.mean(axis=0, dtype=np.float32), len(keys), sample.shape[1]
    planes = np.empty((-(-dimension // _WORD_BITS), count), "<u8")
    for start in range(0, count, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, count)
        planes[:, start:end] = _compute_signs(load(start, end), mean).T
        tick(end, count)
    body = _compute_checksum(keys, planes)
    header = _Header(count, dimension, _compute_checksum(axes), body, mean.tobytes())
    packed = msgspec.msgpack.encode(header)
    start_bytes = _MAGIC + np.array([len(packed), zlib.crc32(packed)], "<u4").tobytes() + packed
    with replace_file(path) as draft:
        draft.write(start_bytes.ljust(_align(len(start_bytes)), b"\0"))
        draft.write(np.ascontiguousarray(keys, "<i8").data)
        draft.write(planes.data)


def _compute_signs(rows: "Matrix", mean: "Vector") -> "Signs":
    """Return the signs of rows, shape (rows, words)."""
    import numpy as np

    bits = np.packbits(rows > mean, axis=1)
    padded = np.zeros((len(rows), -(-rows.shape[1] // _WORD_BITS) * _WORD_BYTES), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8")


def _compute_checksum(*arrays: "NDArray[np.generic] | None") -> int:
    """Return the CRC-32 of arrays one after the other, 0 of none."""
    import numpy as np

    checksum = 0
    for array in arrays:
        for row in () if array is None else np.atleast_2d(array):
            checksum = zlib.crc32(np.ascontiguousarray(row).data, checksum)
    return checksum


def _align(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
