"""Writes passages with their vectors as a Parquet file, for other systems."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any

from kebab.core.ports import Vectors
from kebab.errors.system import translate_import_errors
from kebab.store.archive_file import ExportedPassage
from kebab.store.lance.key_file import FEATURE

_ROWS = 16_384
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
        while rows := list(islice(rest, _ROWS)):
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
