import apsw
import pytest

from kebab.store.sqlite import fts


def varint(number):
    """Return a number as SQLite writes it."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))


@pytest.mark.parametrize(
    "rows",
    [[], [[0, 0, 0]], [[1, 2, 3], [127, 128, 129]], [[16_383, 16_384], [5], [2_097_152, 300, 7]]],
)
def test_the_integers_of_each_blob_are_summed(rows):
    blobs = [b"".join(map(varint, row)) for row in rows]
    assert fts.sum_varints(blobs).tolist() == [sum(row) for row in rows]


def test_columns_are_integers_and_an_empty_table_has_none():
    database = apsw.Connection(":memory:")
    database.execute("CREATE TABLE t (a INTEGER, b INTEGER)")
    sql = "SELECT group_concat(a), group_concat(b) FROM t"
    assert [one.tolist() for one in fts.read_integer_columns(database, sql)] == [[], []]
    database.execute("INSERT INTO t VALUES (1, 9000000000), (-2, 4)")
    assert [one.tolist() for one in fts.read_integer_columns(database, sql)] == [
        [1, -2],
        [9_000_000_000, 4],
    ]


def test_positions_are_found_for_existing_keys_only():
    database = apsw.Connection(":memory:")
    (keys,) = fts.read_integer_columns(database, "SELECT '2,5,9'")
    found, at = fts.find_positions(keys, [9, 1, 5, 10, 6])
    assert (found.tolist(), at.tolist()) == ([9, 5], [2, 1])
