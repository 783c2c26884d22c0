import numpy as np
import pytest

from kebab.core.documents import VectorRow
from kebab.core.ids import ChunkId, DocId, Key
from kebab.ingest.vectors import reconcile
from tests.fakes.vectors import MemoryVectors


def row(key):
    return VectorRow(Key(key), ChunkId("c"), DocId("d"), np.ones(3, np.float32))


@pytest.fixture
def three(desk):
    """Return a desk whose library vouches for three chunks."""
    for name in ("a.md", "b.md", "c.md"):
        desk.write(name, f"text of {name}")
    desk.ingest()
    return desk


def repaired(desk, keys):
    table = MemoryVectors()
    table.append([row(key) for key in keys])
    reconcile(desk.library, table, "v")
    return sorted(table.list_keys())


def test_rows_without_a_committed_chunk_are_deleted(three):
    first, second, third = sorted(three.library.list_committed_keys())

    assert repaired(three, [first, second, third, 999]) == [first, second, third]
    assert three.library.count_pending() == 0


def test_a_row_stored_twice_is_computed_again(three):
    first, second, third = sorted(three.library.list_committed_keys())

    assert repaired(three, [first, second, second, third]) == [first, third]
    assert [chunk.key for chunk in three.library.list_pending(9)] == [second]


def test_a_chunk_whose_row_is_missing_waits_again(three):
    first, second, third = sorted(three.library.list_committed_keys())

    assert repaired(three, [first, third]) == [first, third]
    assert [chunk.key for chunk in three.library.list_pending(9)] == [second]


@pytest.mark.parametrize("verify", [False, True])
def test_only_verify_reads_the_table_itself(three, verify):
    asked = []

    class Watched(MemoryVectors):
        def list_keys(self, *, verify=False):
            asked.append(verify)
            return super().list_keys()

    reconcile(three.library, Watched(), "v", verify=verify)

    assert asked == [verify]


def test_deleted_keys_are_forgotten_with_their_rows(three):
    keys = sorted(three.library.list_committed_keys())
    three.library.remove_documents([three.ids()["a.md"]])

    assert repaired(three, keys) == sorted(three.library.list_committed_keys())
    assert three.library.list_deleted_keys() == []
