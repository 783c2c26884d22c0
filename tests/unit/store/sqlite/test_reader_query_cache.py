import pytest

from kebab.store.sqlite.connection import get_database_path, open_reader, open_writer
from kebab.store.sqlite.reader import QueryCache


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
