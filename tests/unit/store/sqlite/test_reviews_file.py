import multiprocessing
from contextlib import closing

import apsw
import pytest

from kebab.errors.catalog import IoError, Locked, NotIndexed, ReadOnly, StoreCorrupt
from kebab.store.sqlite.reviews import SqliteReviewStore, get_reviews_path


def open_database(data_dir, *, read_only=False, wait_s=5.0):
    return SqliteReviewStore(data_dir, read_only=read_only, wait_s=wait_s)


def write_run(data_dir, name="a"):
    with closing(open_database(data_dir)) as opened, opened.write("review") as database:
        database.execute(
            "INSERT INTO runs VALUES (NULL, ?, '', '', NULL, '', '', '', 1, 1)", (name,)
        )


def count_rows(data_dir, **options):
    with closing(open_database(data_dir, **options)) as opened, opened.read() as database:
        return None if database is None else database.execute("SELECT count(*) FROM runs").get


def use_read(opened):
    with opened.read() as database:
        return database


def use_write(opened):
    with opened.write("review"):
        pass


def delete_and_stop(opened):
    with opened.write("review") as database:
        database.execute("DELETE FROM runs")
        raise KeyboardInterrupt


every = pytest.mark.parametrize("use", [use_read, use_write])


@pytest.mark.parametrize("read_only", [True, False])
def test_reading_where_nothing_is_stored_creates_nothing(tmp_path, read_only):
    assert count_rows(tmp_path / "absent", read_only=read_only) is None
    assert list(tmp_path.iterdir()) == []


def test_writing_can_be_switched_off(tmp_path):
    write_run(tmp_path)
    before = get_reviews_path(tmp_path).read_bytes()

    with pytest.raises(ReadOnly), closing(open_database(tmp_path, read_only=True)) as opened:
        use_write(opened)

    assert count_rows(tmp_path, read_only=True) == 1
    assert get_reviews_path(tmp_path).read_bytes() == before


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    write_run(tmp_path)

    with closing(open_database(tmp_path)) as opened:
        with pytest.raises(KeyboardInterrupt):
            delete_and_stop(opened)
        with opened.read() as database:
            assert database.execute("SELECT count(*) FROM runs").get == 1


@every
def test_a_file_that_is_no_database_is_corrupt(tmp_path, use):
    get_reviews_path(tmp_path).write_bytes(b"no database at all, but long enough to look" * 99)

    with pytest.raises(StoreCorrupt) as caught, closing(open_database(tmp_path)) as opened:
        use(opened)
    assert caught.value.path == str(get_reviews_path(tmp_path))


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_of_a_newer_build_is_left_as_it_is(tmp_path, read_only):
    write_run(tmp_path)
    with closing(apsw.Connection(str(get_reviews_path(tmp_path)))) as database:
        database.execute("PRAGMA user_version = 999")

    with pytest.raises(NotIndexed) as caught:
        count_rows(tmp_path, read_only=read_only)
    assert caught.value.found == 999


def test_a_writer_that_does_not_let_go_is_given_up(tmp_path):
    write_run(tmp_path)
    with closing(apsw.Connection(str(get_reviews_path(tmp_path)))) as other:
        other.execute("BEGIN IMMEDIATE")
        with (
            pytest.raises((IoError, Locked), match=r"busy|is writing"),
            closing(open_database(tmp_path, wait_s=0.05)) as opened,
        ):
            use_write(opened)
        assert count_rows(tmp_path) == 1


def test_several_processes_may_create_the_file_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    names = [str(number) for number in range(6)]
    writers = [context.Process(target=write_run, args=(tmp_path, name)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)

    assert [writer.exitcode for writer in writers] == [0] * len(names)
    assert count_rows(tmp_path) == len(names)
