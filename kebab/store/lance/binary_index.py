"""Contains the binary index, which finds the nearest of very many vectors without reading them all.

It splits a vector, less the mean of all, into its part along the mean, whose length it keeps, and
the rest, of which it keeps the length and one bit for each component. The share of bits in which
two vectors differ estimates their angle (Charikar, Similarity estimation techniques from rounding
algorithms, 2002), and with the lengths the product of a vector and a query. The caller compares
those of the highest estimates exactly, so the index decides what is compared, and no score.

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

    Scores: TypeAlias = NDArray[np.float32]
    Signs: TypeAlias = NDArray[np.uint64]

ROWS_AT_ONCE = 1 << 16
"""How many rows are compared or written at once: their bits fit into the cache of a processor."""

_SAMPLED = 64
"""One of so many estimates tells about where the highest begin."""

_TINY = 1e-30

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


class BinaryIndex:
    """The keys, lengths and signs of many vectors, by rising key.

    `lengths` has two rows: along the mean, which is `mean`, and of the rest. `planes` has 64 signs
    of each vector per row, so that a comparison reads memory in its order.
    """

    def __init__(
        self, keys: "KeyArray", mean: "Vector", lengths: "Matrix", planes: "Signs", checksum: int
    ) -> None:
        self.keys = keys
        self._mean = mean
        self._lengths = lengths
        self._planes = planes
        self._checksum = checksum

    def find_candidates(
        self, query: "Vector", wanted: int, allowed: "KeyArray | None" = None
    ) -> "KeyArray":
        """Return the keys of the highest estimates, at least `wanted` if there are so many.

        Filters apply before the cut.
        """
        keys, estimates = self.keys, self._estimate(query)
        if allowed is not None:
            import numpy as np

            inside = np.isin(keys, allowed, assume_unique=True)
            keys, estimates = keys[inside], estimates[inside]
        found: KeyArray = keys[estimates >= _find_floor(estimates, wanted)]
        return found

    def _estimate(self, query: "Vector") -> "Scores":
        """Return the estimated product of a query with each vector, but for a constant."""
        import numpy as np

        (along, rest), signs = _split(query[None, :], self._mean, np.zeros_like(self._mean))
        bits = len(query)
        angles = np.pi * np.arange(bits + 1) / bits
        cosines = (rest * np.cos(angles)).astype(np.float32)
        estimates: Scores = along * self._lengths[0]
        for start in range(0, len(estimates), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            differing = np.zeros(len(estimates[part]), np.uint16)
            for plane, word in zip(self._planes, signs[0], strict=True):
                differing += np.bitwise_count(plane[part] ^ word)
            estimates[part] += self._lengths[1, part] * cosines[differing]
        return estimates

    def estimate_cosines(self, query: "Vector") -> "Scores":
        """Return the estimated product of a query with each vector."""
        estimates: Scores = self._estimate(query) + self._mean @ query
        return estimates

    def measure_noise(self, query: "Vector") -> float:
        """Return the variance that estimates have beyond that of the products.

        The rests of most vectors are nearly at right angles to that of a query. With components as
        of a normal distribution, the share of equal signs then varies by 1 / (4 bits), so estimated
        cosines by pi^2 / (4 bits), and true ones by 1 / bits.
        """
        import numpy as np

        (_, rest), _ = _split(query[None, :], self._mean, np.zeros_like(self._mean))
        bits = len(query)
        return float(np.mean((self._lengths[1] * rest) ** 2) * (np.pi**2 / 4 - 1) / bits)

    def is_intact(self) -> bool:
        """Return whether the file is as it was written."""
        return _compute_checksum(self.keys, self._lengths, self._planes) == self._checksum

    def agrees(self, places: "NDArray[np.intp]", rows: "Matrix") -> bool:
        """Return whether vectors have the signs at these places."""
        import numpy as np

        return np.array_equal(self._planes[:, places], _split(rows, self._mean, self._mean)[1].T)


def open_binary_index(path: Path, dimension: int, axes: "Matrix | None") -> BinaryIndex | None:
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
        size = body + header.rows * _WORD_BYTES * (words + 2)
        is_right = (header.dimension, header.axes) == (dimension, _compute_checksum(axes))
        if not is_right or os.fstat(file.fileno()).st_size != size:
            return None
        shape = words + 2, header.rows
        if can_remove_open_files():
            table = np.asarray(np.memmap(file, "<u8", "r", body, shape))
        else:
            file.seek(body)
            table = np.fromfile(file, "<u8").reshape(shape)
        mean = np.frombuffer(header.mean, "<f4")
        lengths = table[1].view("<f4").reshape(2, header.rows)
        return BinaryIndex(table[0].view("<i8"), mean, lengths, table[2:], header.body)
    return None


def write_binary_index(
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
    lengths = np.empty((2, count), "<f4")
    for start in range(0, count, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, count)
        lengths[:, start:end], signs = _split(load(start, end), mean, mean)
        planes[:, start:end] = signs.T
        tick(end, count)
    body = _compute_checksum(keys, lengths, planes)
    header = _Header(count, dimension, _compute_checksum(axes), body, mean.tobytes())
    packed = msgspec.msgpack.encode(header)
    start_bytes = _MAGIC + np.array([len(packed), zlib.crc32(packed)], "<u4").tobytes() + packed
    with replace_file(path) as draft:
        draft.write(start_bytes.ljust(_align(len(start_bytes)), b"\0"))
        draft.write(np.ascontiguousarray(keys, "<i8").data)
        draft.write(lengths.data)
        draft.write(planes.data)


def _split(rows: "Matrix", mean: "Vector", origin: "Vector") -> "tuple[Matrix, Signs]":
    """Return the two lengths of rows, shape (2, rows), and their signs, shape (rows, words).

    `origin` is subtracted from the rows first.
    """
    import numpy as np

    # A mean of zero has no direction; without one, everything is in the rest.
    direction = mean / max(float(np.linalg.norm(mean)), _TINY)
    moved = rows - origin
    along = moved @ direction
    rest = moved - along[:, None] * direction
    bits = np.packbits(rest > 0, axis=1)
    padded = np.zeros((len(rows), -(-rows.shape[1] // _WORD_BITS) * _WORD_BYTES), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.stack([along, np.linalg.norm(rest, axis=1)]), padded.view("<u8")


def _find_floor(estimates: "Scores", wanted: int) -> float:
    """Return a number that at least `wanted` estimates reach, and not many more."""
    import numpy as np

    sample = estimates[::_SAMPLED]
    rank = len(sample) - 1 - 2 * wanted // _SAMPLED
    if rank > 0:
        high = estimates[estimates >= np.partition(sample, rank)[rank]]
        estimates = high if len(high) >= wanted else estimates
    if wanted >= len(estimates):
        return -np.inf
    return float(np.partition(estimates, len(estimates) - wanted)[len(estimates) - wanted])


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
