import os
import shutil
import sys

import apsw
import pytest

from kebab.core.ids import Key, make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.store.sqlite import chunks
from kebab.store.sqlite.connection import get_database_path, open_reader, open_writer
from kebab.store.sqlite.fts import EQUAL_WEIGHTS
from kebab.store.sqlite.reader import (
    AmortizedTable,
    CommittedKeys,
    DocumentNumbers,
    QueryCache,
    ReaderPool,
    RevisionCache,
    SqliteReader,
)
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document


def test_a_reader_needs_an_indexed_directory(tmp_path):
    with pytest.raises(NotIndexed):
        SqliteReader(tmp_path)


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


@pytest.mark.parametrize("match", ["", '"', "a:b", "NOT x", "*", "nocolumn : x"])
def test_an_invalid_expression_is_refused_as_input(writer, tmp_path, match):
    with SqliteReader(tmp_path) as reader, pytest.raises(InvalidInput):
        reader.search_lexical(match, Filters(), 9)


def test_weights_reach_the_ranking(writer, tmp_path):
    writer.put_document(document("b.md", ["storm"], title="snow"))
    writer.put_document(document("c.md", ["snow"], title="storm"))
    ranked = {}
    for weights in ((9.0, 1.0, 1.0), (1.0, 1.0, 9.0)):
        with SqliteReader(tmp_path, weights) as reader:
            hits = reader.search_lexical('"snow"', Filters(), 9)
            ranked[weights[0]] = [one.path for one in reader.load_chunks([key for key, _ in hits])]
    assert ranked == {9.0: ["b.md", "c.md"], 1.0: ["c.md", "b.md"]}


@pytest.fixture
def settled(monkeypatch):
    """Rely on the state of files also right after a change."""
    monkeypatch.setattr("kebab.store.stamps._SETTLING_NS", -(10**12))


@pytest.fixture
def pool(tmp_path):
    made = ReaderPool(tmp_path)
    yield made
    made.close()


def found(pool, word):
    with pool.acquire() as reader:
        keys = [key for key, _ in reader.search_lexical(f'"{word}"', Filters(), 9, [word])]
        return sorted(chunk.path for chunk in reader.load_chunks(keys)), set(
            reader.find_doc_numbers(keys)
        )


def test_every_snapshot_is_that_of_the_last_commit(writer, pool):
    for number in range(5):
        writer.put_document(document(f"{number}.md", ["rain"]))
        for _ in range(3):
            paths, keys = found(pool, "rain")
            assert paths == sorted(["a.md", *(f"{one}.md" for one in range(number + 1))])
            assert len(keys) == number + 2
    writer.remove_documents([make_doc_id("notes", "a.md")])
    assert "a.md" not in found(pool, "rain")[0]


def test_a_closed_reader_is_reused_while_the_files_stay_as_they_are(writer, pool, settled):
    found(pool, "rain")
    with pool.acquire() as first:
        pass
    with pool.acquire() as second:
        assert second is first
    writer.put_document(document("b.md", ["rain"]))
    with pool.acquire() as third:
        assert third is not first


@pytest.mark.parametrize("event", ["rest", "cached answer"])
def test_tables_in_memory_outlive_the_connection_while_the_state_stays(
    event, writer, pool, tmp_path, settled
):
    found(pool, "rain")
    with pool.acquire() as first:
        cache = first.cache
    if event == "rest":
        pool.close()
    else:
        answers = QueryCache(tmp_path)
        answers.put("page", "question", 1, b"")
        answers.close()
    assert found(pool, "rain")[0] == ["a.md"]
    with pool.acquire() as second:
        assert second is not first
        assert second.cache is cache


def test_another_library_of_the_same_revision_has_nothing_in_common(tmp_path):
    """It is written over the first one, so device and number of the file stay."""
    for name in ("a", "b"):
        with SqliteWriter(tmp_path / name, str) as made:
            made.add_source(NOTES)
            made.put_document(document(f"{name}.md", ["rain"]))
    one, two = (get_database_path(tmp_path / name) for name in ("a", "b"))
    pool = ReaderPool(one.parent)
    assert found(pool, "rain")[0] == ["a.md"]
    with pool.acquire() as first:
        revision, cache = first.get_revision(), first.cache
    pool.close()
    one.write_bytes(two.read_bytes())

    assert found(pool, "rain")[0] == ["b.md"]
    with pool.acquire() as last:
        assert last.get_revision() == revision
        assert last.cache is not cache
    pool.close()


def test_an_answer_for_another_library_is_not_written_into_this_one(tmp_path):
    for name in ("a", "b"):
        SqliteWriter(tmp_path / name, str).close()
    one, two = (get_database_path(tmp_path / name) for name in ("a", "b"))
    cache = QueryCache(one.parent)
    cache.put("page", "question", 0, b"answer")
    two.replace(one)
    cache.close()

    later = QueryCache(one.parent)
    assert later.get("page", "question", 0) is None
    later.close()


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


def test_a_folder_that_cannot_be_written_is_opened_every_time(writer, tmp_path):
    writer.close()
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(tmp_path / "kebab.sqlite", copy)
    copy.chmod(0o500)
    try:
        pool = ReaderPool(copy)
        assert found(pool, "rain")[0] == ["a.md"]
        assert found(pool, "rain")[0] == ["a.md"]
        pool.close()
    finally:
        copy.chmod(0o700)


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


def test_an_emptied_database_has_no_index_also_for_an_open_reader(writer, pool, tmp_path):
    assert found(pool, "rain")[0] == ["a.md"]
    get_database_path(tmp_path).write_bytes(b"")

    with pytest.raises(NotIndexed):
        pool.acquire()


@pytest.mark.parametrize("damage", ["short", "other"])
def test_a_database_that_was_damaged_in_its_place_is_corrupt_also_for_an_open_reader(
    damage, writer, pool, tmp_path
):
    writer.checkpoint()
    assert found(pool, "rain")[0] == ["a.md"]
    path = get_database_path(tmp_path)
    if damage == "short":
        os.truncate(path, 20_000)
    else:
        with path.open("r+b") as file:
            file.write(b"another program writes here")

    with pytest.raises(StoreCorrupt):
        pool.acquire()


def test_pages_that_only_the_log_holds_are_no_damage(writer, pool, tmp_path):
    for number in range(20):
        writer.put_document(document(f"{number}.md", ["rain " * 500]))
    with pool.acquire() as reader:
        assert reader.count_chunks() == 21


def test_a_writer_replaces_an_empty_file_that_another_process_has_open(writer, pool, tmp_path):
    assert found(pool, "rain")[0] == ["a.md"]
    get_database_path(tmp_path).write_bytes(b"")

    open_writer(tmp_path).close()

    assert found(pool, "rain")[0] == []


def test_a_writer_refuses_a_file_whose_end_is_missing(writer, tmp_path):
    writer.checkpoint()
    os.truncate(get_database_path(tmp_path), 20_000)

    with pytest.raises(StoreCorrupt):
        open_writer(tmp_path)


@pytest.fixture
def data_dir(tmp_path):
    open_writer(tmp_path).close()
    return tmp_path


@pytest.fixture
def cache(data_dir):
    made = QueryCache(data_dir, rows=8)
    yield made
    made.close()


def test_an_answer_is_cached_for_its_revision(cache):
    cache.put("page", "question", 3, b"answer")
    assert cache.get("page", "question", 3) == b"answer"
    assert cache.get("page", "question", 4) is None
    assert cache.get("vector", "question", 3) is None


def test_a_later_answer_replaces_an_earlier_one(cache):
    cache.put("page", "question", 3, b"one")
    cache.put("page", "question", 3, b"two")
    assert cache.get("page", "question", 3) == b"two"


def test_another_process_sees_cached_answers(cache, data_dir):
    cache.put("page", "question", 3, b"answer")
    cache.close()
    other = QueryCache(data_dir)
    assert other.get("page", "question", 3) == b"answer"
    other.close()


def test_the_least_recently_used_answers_are_evicted(data_dir):
    def remember(numbers):
        cache = QueryCache(data_dir, rows=8)
        for number in numbers:
            cache.put("page", str(number), 1, b"")
        cache.close()

    remember(range(8))
    cache = QueryCache(data_dir, rows=8)
    assert cache.get("page", "0", 1) == b""
    cache.close()
    remember(range(8, 12))
    cache = QueryCache(data_dir, rows=8)
    left = [number for number in range(12) if cache.get("page", str(number), 1) is not None]
    assert left == [0, 5, 6, 7, 8, 9, 10, 11]
    cache.close()


def test_answers_are_written_together(cache, data_dir):
    other = QueryCache(data_dir)
    for number in range(63):
        cache.put("page", str(number), 1, b"answer")
    assert (cache.get("page", "60", 1), other.get("page", "60", 1)) == (b"answer", None)
    cache.put("page", "63", 1, b"answer")
    assert other.get("page", "60", 1) == b"answer"
    other.close()


def test_without_a_database_nothing_is_cached_or_created(tmp_path):
    cache = QueryCache(tmp_path / "absent")
    cache.put("page", "question", 1, b"")
    assert cache.get("page", "question", 1) is None
    cache.close()
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_version_is_left_alone(data_dir):
    writer = open_writer(data_dir)
    writer.execute("PRAGMA user_version = 99")
    writer.close()
    cache = QueryCache(data_dir)
    cache.put("page", "question", 1, b"")
    assert cache.get("page", "question", 1) is None


def test_a_damaged_database_caches_nothing(tmp_path):
    get_database_path(tmp_path).write_bytes(b"no database" * 999)
    assert QueryCache(tmp_path).get("page", "question", 1) is None


@pytest.mark.timeout(3)
def test_a_busy_writer_is_not_waited_for(cache, data_dir):
    cache.put("page", "old", 1, b"answer")
    cache.close()
    writer = open_writer(data_dir)
    writer.execute("BEGIN IMMEDIATE")
    hurried = QueryCache(data_dir)
    hurried.put("page", "new", 1, b"answer")
    hurried.close()
    writer.execute("ROLLBACK")
    writer.close()
    later = QueryCache(data_dir)
    assert (later.get("page", "new", 1), later.get("page", "old", 1)) == (None, b"answer")
    later.close()


def log_of(data_dir):
    return get_database_path(data_dir).with_name(get_database_path(data_dir).name + "-wal")


def grown(data_dir, megabytes):
    """Fill the log while somebody reads, which keeps it from being used again."""
    reader = open_reader(data_dir)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM query_cache").fetchall()
    cache = QueryCache(data_dir)
    for number in range(64):
        cache.put("page", str(number), 1, bytes(1_000_000 * megabytes // 64))
    return cache, reader


def test_a_log_that_grew_long_is_emptied_on_closing(data_dir):
    cache, reader = grown(data_dir, 6)
    assert log_of(data_dir).stat().st_size > 5_000_000
    reader.close()

    cache.close()

    assert log_of(data_dir).stat().st_size == 0
    again = QueryCache(data_dir)
    assert again.get("page", "3", 1) == bytes(1_000_000 * 6 // 64)
    again.close()


def test_a_short_log_is_left_to_the_next_ingest(data_dir):
    cache, reader = grown(data_dir, 1)
    reader.close()

    cache.close()

    assert log_of(data_dir).stat().st_size > 0


def test_an_active_reader_is_not_waited_for(data_dir):
    cache, reader = grown(data_dir, 6)

    cache.close()

    assert reader.execute("SELECT count(*) FROM query_cache").get == 0
    reader.close()


def test_tables_in_memory_equal_the_database(stored):
    keys = stored(["one", "two", "three"])
    stored.put_document(document("b.md", ["four"]))
    asked = [*reversed(keys), Key(999), Key(4)]
    chunks.set_vector_state(stored.database, keys[:2], "committed", "v1")

    assert DocumentNumbers(stored.database).find(asked) == chunks.find_doc_numbers(
        stored.database, asked
    )
    assert CommittedKeys(stored.database).find(asked) == set(keys[:2])
    assert DocumentNumbers(stored.database).find([]) == {}


def test_tables_of_an_empty_library_are_empty(stored):
    assert DocumentNumbers(stored.database).find([Key(1)]) == {}
    assert CommittedKeys(stored.database).find([Key(1)]) == set()


def test_terms_are_counted_once(stored):
    stored(["rain sun", "rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, state=1)

    assert cache.get_document_frequencies(["rain", "snow"]) == {"rain": 2, "snow": 0}
    stored.put_document(document("b.md", ["rain"]))
    assert cache.get_document_frequencies(["rain", "sun"]) == {"rain": 2, "sun": 1}


def is_built(table):
    """Return whether a slow query is followed by one that the table answers."""
    table.query(lambda _: True, lambda: sum(range(1_000_000)))
    return table.query(lambda _: True, lambda: False)


def test_tables_are_built_for_repeated_queries(stored):
    stored(["rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, state=1)
    assert all(map(is_built, (cache.postings, cache.document_numbers, cache.committed_keys)))


def test_without_numpy_no_table_is_ever_built(stored, monkeypatch):
    stored(["rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, state=1)
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})

    assert not is_built(cache.document_numbers)


class Store:
    """A table that costs `cost` seconds to build, and a clock that queries without it advance."""

    def __init__(self, cost):
        self.now = 0.0
        self.built = 0
        self.table = AmortizedTable(self.build, lambda: cost, lambda: self.now)

    def build(self):
        self.built += 1
        return "table"

    def query(self, seconds):
        """Return what answered a query that takes so long without the table."""

        def read():
            self.now += seconds
            return "rows"

        return self.table.query(lambda table: table, read)


def test_it_is_built_once_queries_without_it_have_cost_as_much():
    store = Store(cost=2.0)
    assert [store.query(1.5), store.query(0.5)] == ["rows", "rows"]
    assert [store.query(1.0), store.query(1.0), store.built] == ["table", "table", 1]


def test_a_table_without_cost_is_not_built_before_the_second_query():
    store = Store(cost=0.0)
    assert (store.query(0.1), store.built) == ("rows", 0)
    assert store.query(0.1) == "table"


def test_the_time_of_a_query_that_failed_counts():
    store = Store(cost=1.0)

    def fail():
        store.now += 1.0
        raise KeyError

    with pytest.raises(KeyError):
        store.table.query(str, fail)
    assert store.query(1.0) == "table"
