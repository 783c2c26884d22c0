"""Packs the vectors of an index for an archive, and builds an index from packed ones.

A packed row is the key as a little-endian integer of 8 bytes, then the components as floats of 4
bytes. Rows are in the order of their keys.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key, Keys
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_import_errors, translate_os_errors
from kebab.store.archive_file import build_damage
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.key_file import FEATURE
from kebab.store.lance.vectors import MAX_LENGTH_ERROR, LanceVectors

if TYPE_CHECKING:
    import numpy as np

    from kebab.core.chunks import Matrix
    from kebab.store.lance.key_file import KeyArray

_KEY_BYTES, _COMPONENT_BYTES = 8, 4
_ROWS = 16_384
"""How many rows are in memory at once (25 MB)."""


def compute_row_bytes(dimension: int) -> int:
    """Return the size of a packed row."""
    return _KEY_BYTES + dimension * _COMPONENT_BYTES


def _build_dtype(dimension: int) -> "np.dtype[np.void]":
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    return np.dtype([("key", "<i8"), ("vector", "<f4", (dimension,))])


def pack_vectors(index: ExactIndex, keys: Keys) -> Iterator[bytes]:
    """Yield the packed rows of keys in rising order, all of which the index holds."""
    for start in range(0, len(keys), _ROWS):
        part = keys[start : start + _ROWS]
        vectors = index.get([Key(key) for key in part])
        with translate_import_errors(FEATURE, "numpy"):
            import numpy as np

        matrix = np.array([vectors[Key(key)] for key in part], np.float32)
        records = np.empty(len(part), _build_dtype(matrix.shape[1]))
        records["key"], records["vector"] = part, matrix
        yield records.tobytes()


def iterate_rows(index: ExactIndex, keys: Keys, dimension: int) -> Iterator[bytes]:
    """Yield the packed row of each key in rising order, all of which the index holds."""
    size = compute_row_bytes(dimension)
    for packed in pack_vectors(index, keys):
        yield from (packed[at : at + size] for at in range(0, len(packed), size))


def unpack_rows(packed: Sequence[bytes], dimension: int) -> "tuple[KeyArray, Matrix]":
    """Return the keys and the vectors of packed rows.

    Raises:
        StoreCorrupt: A row has another size.
    """
    if any(len(one) != compute_row_bytes(dimension) for one in packed):
        raise StoreCorrupt(path="vectors", cause="a row has another size")
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    records = np.frombuffer(b"".join(packed), _build_dtype(dimension))
    return records["key"], records["vector"]


def build_vectors(
    packed: Path,
    vectors: LanceVectors,
    dimension: int,
    chunks: Iterable[tuple[int, str, str]],
    archive: Path,
) -> Iterator[int]:
    """Fill an empty index with packed vectors; yield how many rows each step has added.

    `chunks` has every passage with a vector by key; errors name the `archive`.

    Raises:
        StoreCorrupt: The keys are not those of the passages, or a vector has not length 1.
        IoError: The file system refused.
    """
    with translate_import_errors(FEATURE, "numpy"):
        import numpy as np

    names = iter(chunks)
    with translate_os_errors(packed, "read"), packed.open("rb") as file:
        while True:
            records = np.fromfile(file, _build_dtype(dimension), _ROWS)
            expected = list(islice(names, len(records) or 1))
            if [key for key, *_ in expected] != records["key"].tolist():
                raise build_damage(archive, "its vectors are of other passages")
            if not len(records):
                return
            matrix = records["vector"]
            with np.errstate(all="ignore"):
                intact = np.abs(np.einsum("ij,ij->i", matrix, matrix) - 1.0) < MAX_LENGTH_ERROR
            if not intact.all():
                raise build_damage(archive, "a vector has not length 1")
            vectors.append(
                [
                    VectorRow(
                        key=Key(key), chunk_id=ChunkId(chunk_id), doc_id=DocId(doc_id), vector=row
                    )
                    for (key, chunk_id, doc_id), row in zip(expected, matrix, strict=True)
                ]
            )
            yield len(records)
