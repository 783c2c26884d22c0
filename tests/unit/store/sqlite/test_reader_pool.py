import os
import shutil

import apsw
import pytest

from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import NotIndexed, StoreCorrupt
from kebab.store.sqlite.connection import get_database_path, open_writer
from kebab.store.sqlite.reader import ReaderPool
from tests.fakes.rows import document


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


def test_a_closed_reader_is_reused_on_a_new_snapshot(writer, pool):
    with pool.acquire() as first:
        revision = first.get_revision()
    for number in range(5):
        writer.put_document(document(f"{number}.md", ["rain"]))
        for _ in range(3):
            paths, keys = found(pool, "rain")
            assert paths == sorted(["a.md", *(f"{one}.md" for one in range(number + 1))])
            assert len(keys) == number + 2
    writer.remove_documents([make_doc_id("notes", "a.md")])
    assert "a.md" not in found(pool, "rain")[0]
    with pool.acquire() as last:
        assert last is first
        assert last.get_revision() > revision


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
