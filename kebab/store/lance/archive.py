"""Packs the vectors of an index for archives and Parquet files, and builds an index from them.

A packed row is the key as a little-endian integer of 8 bytes, then the components as floats of 4
bytes. Rows are in the order of their keys.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key, Keys
from kebab.core.ports import Vectors
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_import_errors, translate_os_errors
from kebab.store.archive_file import ExportedPassage, build_damage
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


_GROUP_ROWS = 16_384
"""How many passages are in memory at once, and in a row group."""


def write_passages(
    file: IO[bytes], passages: Iterable[ExportedPassage], index: Vectors | None, dimension: int
) -> Iterator[int]:
    """Write passages to a file; yield the bytes of each group, before they are compressed.

    The columns are the fields of a passage, and `vector`: a list of `dimension` numbers, null for a
    passage without one. Without an index there is no such column.
    """
    with translate_import_errors(FEATURE, "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

    number, strings = pa.int32(), pa.list_(pa.string())
    kinds = {"start_line": number, "end_line": number, "heading_path": strings, "tags": strings}
    names = [name for name in ExportedPassage._fields if name != "key"]
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in names]
    if index is not None:
        fields.append(pa.field("vector", pa.list_(pa.float32(), dimension)))
    schema, rest = pa.schema(fields), iter(passages)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while rows := list(islice(rest, _GROUP_ROWS)):
            columns = [
                pa.array([getattr(row, field.name) for row in rows], field.type)
                for field in fields[: len(names)]
            ]
            if index is not None:
                columns.append(_build_vectors(rows, index, dimension))
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            writer.write_batch(batch)
            yield batch.nbytes


def _build_vectors(rows: Sequence[ExportedPassage], index: Vectors, dimension: int) -> Any:
    """Return the vectors of passages, null for one without a vector."""
    with translate_import_errors(FEATURE, "pyarrow"):
        import numpy as np
        import pyarrow as pa

    found = index.get([row.key for row in rows if row.model is not None])
    matrix = np.zeros((len(rows), dimension), np.float32)
    for place, row in enumerate(rows):
        if row.model is not None:
            matrix[place] = found[row.key]
    missing = pa.array([row.model is None for row in rows])
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), dimension, mask=missing)
