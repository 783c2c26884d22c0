"""The table of vectors: commits, compaction, and tables of earlier builds."""

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance import LanceTable, read_table_version

VERSION = "fastembed-minilml6-4-v1"


@pytest.fixture
def table(tmp_path):
    return LanceTable(tmp_path, VERSION, 4)


def rows(*keys):
    return np.array(keys, np.int64), np.eye(4, dtype=np.float16)[np.array(keys) % 4]


def read(table):
    return table.read_rows()[0].tolist()


def test_a_table_begins_with_its_first_rows(table):
    assert read_table_version(table.path) is None

    table.append(*rows(1, 2))
    table.append(*rows(3))
    table.delete([2])

    assert read(table) == [1, 3]
    assert read_table_version(table.path) == 3


def test_many_small_commits_are_compacted_and_keep_their_rows(table):
    for key in range(40):
        table.append(*rows(key))
    before = len(list((table.path / "data").iterdir()))

    table.compact()

    assert read(table) == list(range(40))
    assert len(list((table.path / "data").iterdir())) < before


def test_a_table_of_an_earlier_build_is_read_and_written_anew_by_the_first_write(table):
    keys, vectors = rows(1, 2)
    wide = pa.FixedSizeListArray.from_arrays(pa.array(vectors.astype(np.float32).ravel()), 4)
    columns = {"key": pa.array(keys), "chunk_id": pa.array(["a", "b"]), "vector": wide}
    table.path.parent.mkdir(parents=True)
    lancedb.connect(table.path.parent).create_table(table.path.stem, pa.table(columns))

    assert read(table) == [1, 2]
    table.append(*rows(3))

    found = LanceTable(table.path.parents[1], VERSION, 4)
    assert read(found) == [1, 2, 3]
    assert found.read_rows()[1].dtype == np.float16
    opened = lancedb.connect(table.path.parent).open_table(table.path.stem)
    assert opened.schema.names == ["key", "vector"]


@pytest.mark.parametrize("damage", ["data", "_versions"])
def test_a_table_whose_files_are_damaged_cannot_be_read(table, damage):
    table.append(*rows(1, 2))
    for path in (table.path / damage).iterdir():
        path.write_bytes(b"odd")

    with pytest.raises(StoreCorrupt):
        LanceTable(table.path.parents[1], VERSION, 4).read_rows()


def test_vectors_of_another_length_are_no_vectors(table):
    table.append(*rows(1, 2))

    with pytest.raises(StoreCorrupt):
        LanceTable(table.path.parents[1], VERSION, 3).read_rows()
