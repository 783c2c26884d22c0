import apsw
import pytest

from kebab.core.chunks import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, IoError
from kebab.store.sqlite.connection import get_database_path, open_writer
from kebab.store.sqlite.reader import QueryCache, SqliteReader
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


@pytest.mark.parametrize("match", ["", "nocolumn : x"])
def test_an_invalid_expression_is_refused_as_input(writer, tmp_path, match):
    with SqliteReader(tmp_path) as reader, pytest.raises(InvalidInput):
        reader.search_lexical(match, Filters(), 9)


@pytest.fixture
def data_dir(tmp_path):
    open_writer(tmp_path).close()
    return tmp_path


@pytest.fixture
def cache(data_dir):
    return QueryCache(data_dir, rows=8)


def test_the_oldest_answers_are_evicted(cache):
    for number in range(12):
        cache.put("page", str(number), b"")
    left = [number for number in range(12) if cache.get("page", str(number)) is not None]

    assert left == list(range(4, 12))


def test_a_damaged_database_caches_nothing(tmp_path):
    get_database_path(tmp_path).write_bytes(b"no database" * 999)
    assert QueryCache(tmp_path).get("page", "question") is None


def test_a_busy_writer_is_not_waited_for(cache, data_dir, monkeypatch):
    monkeypatch.setattr("kebab.store.sqlite.connection._BUSY_MS", 10**9)
    cache.put("page", "old", b"answer")
    writer = open_writer(data_dir)
    writer.execute("BEGIN IMMEDIATE")
    hurried = QueryCache(data_dir)
    hurried.put("page", "new", b"answer")
    writer.execute("ROLLBACK")
    writer.close()
    later = QueryCache(data_dir)
    assert (later.get("page", "new"), later.get("page", "old")) == (None, b"answer")
