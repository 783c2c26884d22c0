import apsw
import pytest

from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed
from kebab.store.sqlite.connection import get_database_path, open_writer
from kebab.store.sqlite.reader import (
    QueryCache,
    ReaderPool,
    SqliteReader,
)
from tests.fakes.rows import document


def test_a_snapshot_stays_as_it_was_while_the_writer_commits(writer, tmp_path):
    with SqliteReader(tmp_path) as reader:
        revision = reader.get_revision()
        keys = [key for key, _ in reader.search_lexical('"rain"', Filters(), 9)]
        writer.remove_documents([make_doc_id("notes", "a.md")])
        writer.put_document(document("b.md", ["rain", "snow"]))
        assert reader.get_revision() == revision
        assert [key for key, _ in reader.search_lexical('"rain"', Filters(), 9)] == keys
        assert [chunk.path for chunk in reader.load_chunks(keys)] == ["a.md"]
        assert reader.count_chunks() == 1
    with SqliteReader(tmp_path) as later:
        assert later.get_revision() == revision + 2
        assert later.count_chunks() == 2


def test_a_snapshot_that_cannot_begin_is_an_io_error(writer, tmp_path):
    def refuse(_cursor, statement, _bindings):
        if statement == "BEGIN":
            raise apsw.NoMemError("out of memory")
        return True

    def watch(database):
        database.exec_trace = refuse

    apsw.connection_hooks.append(watch)
    try:
        with pytest.raises(IoError):
            SqliteReader(tmp_path)
    finally:
        apsw.connection_hooks.remove(watch)


def test_readers_never_wait_for_a_writer(writer, tmp_path):
    with writer.batch():
        writer.put_document(document("b.md", ["rain"]))
        with SqliteReader(tmp_path) as reader:
            assert len(reader.search_lexical('"rain"', Filters(), 9)) == 1
            assert reader.count_pending() == 1


@pytest.mark.parametrize("match", ["", "nocolumn : x"])
def test_an_invalid_expression_is_refused_as_input(writer, tmp_path, match):
    with SqliteReader(tmp_path) as reader, pytest.raises(InvalidInput):
        reader.search_lexical(match, Filters(), 9)


@pytest.fixture
def pool(tmp_path):
    made = ReaderPool(tmp_path)
    yield made
    made.close()


def found(pool, word):
    with pool.acquire() as reader:
        keys = [key for key, _ in reader.search_lexical(f'"{word}"', Filters(), 9)]
        return sorted(chunk.path for chunk in reader.load_chunks(keys)), set(
            reader.find_doc_numbers(keys)
        )


def test_a_closed_reader_is_reused_for_later_states_too(writer, pool):
    found(pool, "rain")
    with pool.acquire() as first:
        pass
    with pool.acquire() as second:
        assert second is first
    writer.put_document(document("b.md", ["rain"]))
    with pool.acquire() as third:
        assert third is first
        assert third.count_chunks() == 2


def test_a_reader_in_use_is_not_acquired_twice(writer, pool):
    with pool.acquire() as one, pool.acquire() as other:
        assert one is not other
        writer.put_document(document("b.md", ["rain"]))
        assert one.count_chunks() == other.count_chunks()


def test_a_replaced_database_file_is_opened_anew(writer, pool, tmp_path):
    assert found(pool, "rain")[0] == ["a.md"]
    for path in tmp_path.glob("kebab.sqlite*"):
        path.unlink()
    with pytest.raises(NotIndexed):
        pool.acquire()
    open_writer(tmp_path).close()
    assert found(pool, "rain")[0] == []


def test_a_database_of_another_version_is_refused_also_by_an_open_reader(writer, pool, tmp_path):
    assert found(pool, "rain")[0] == ["a.md"]
    with open_writer(tmp_path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(NotIndexed):
        pool.acquire()


def test_a_reader_that_failed_is_not_reused(writer, pool):
    with pytest.raises(ZeroDivisionError), pool.acquire() as first:
        raise ZeroDivisionError
    with pool.acquire() as second:
        assert second is not first


def test_a_reader_whose_snapshot_cannot_end_is_closed_and_not_reused(writer, pool):
    def refuse(_cursor, statement, _bindings):
        if statement == "COMMIT":
            raise apsw.NoMemError("out of memory")
        return True

    with pool.acquire() as first:
        connection = first.connection
        connection.exec_trace = refuse

    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
    with pool.acquire() as second:
        assert second is not first


def test_a_writer_replaces_an_empty_file_that_another_process_has_open(writer, pool, tmp_path):
    assert found(pool, "rain")[0] == ["a.md"]
    get_database_path(tmp_path).write_bytes(b"")

    open_writer(tmp_path).close()

    assert found(pool, "rain")[0] == []


@pytest.fixture
def data_dir(tmp_path):
    open_writer(tmp_path).close()
    return tmp_path


@pytest.fixture
def cache(data_dir):
    made = QueryCache(data_dir, rows=8)
    yield made
    made.close()


def test_another_process_sees_cached_answers(cache, data_dir):
    cache.put("page", "question", b"answer")
    cache.close()
    other = QueryCache(data_dir)
    assert other.get("page", "question") == b"answer"
    other.close()


def test_the_oldest_answers_are_evicted(data_dir):
    for numbers in (range(8), range(8, 12)):
        cache = QueryCache(data_dir, rows=8)
        for number in numbers:
            cache.put("page", str(number), b"")
        cache.close()
    cache = QueryCache(data_dir, rows=8)
    left = [number for number in range(12) if cache.get("page", str(number)) is not None]
    cache.close()

    assert left == list(range(4, 12))


def test_a_damaged_database_caches_nothing(tmp_path):
    get_database_path(tmp_path).write_bytes(b"no database" * 999)
    assert QueryCache(tmp_path).get("page", "question") is None


@pytest.mark.timeout(3)
def test_a_busy_writer_is_not_waited_for(cache, data_dir):
    cache.put("page", "old", b"answer")
    cache.close()
    writer = open_writer(data_dir)
    writer.execute("BEGIN IMMEDIATE")
    hurried = QueryCache(data_dir)
    hurried.put("page", "new", b"answer")
    hurried.close()
    writer.execute("ROLLBACK")
    writer.close()
    later = QueryCache(data_dir)
    assert (later.get("page", "new"), later.get("page", "old")) == (None, b"answer")
    later.close()
