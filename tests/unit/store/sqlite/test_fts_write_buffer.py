import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.store.sqlite import fts
from kebab.store.sqlite.connection import open_writer

ROWS = [(Key(2), "a", "b", "rain"), (Key(1), "", "", "sun")]


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


def found(database, word):
    return [key for key, _ in fts.search(database, word, Filters(), fts.EQUAL_WEIGHTS, 9)]


def test_rows_are_found_once_the_buffer_is_flushed(database):
    fts.buffer_rows(database, ROWS)
    assert found(database, "rain") == []

    fts.flush_write_buffer(database)
    fts.flush_write_buffer(database)

    assert (found(database, "rain"), found(database, "sun")) == ([2], [1])


def test_a_row_deleted_from_the_buffer_is_never_indexed(database):
    fts.buffer_rows(database, ROWS)
    fts.delete_chunks(database, [Key(2)])
    fts.flush_write_buffer(database)

    assert (found(database, "rain"), found(database, "sun")) == ([], [1])


def test_a_row_is_replaced_in_the_buffer_and_in_the_index(database):
    for word in ("snow", "hail", "fog"):
        fts.delete_chunks(database, [Key(1)])
        fts.buffer_rows(database, [(Key(1), "", "", word)])
        if word != "snow":
            fts.flush_write_buffer(database)

    assert [found(database, word) for word in ("snow", "hail", "fog")] == [[], [], [1]]


def test_buffered_rows_are_rolled_back(database):
    database.execute("BEGIN")
    fts.buffer_rows(database, ROWS[:1])
    database.execute("SAVEPOINT unit")
    fts.buffer_rows(database, ROWS[1:])
    database.execute("ROLLBACK TO unit")
    fts.flush_write_buffer(database)
    database.execute("COMMIT")

    assert (found(database, "rain"), found(database, "sun")) == ([2], [])
