"""What only the adapter does; `tests/ports/test_review_store.py` holds it to the port."""

import threading
from contextlib import closing

import apsw
import msgspec
import pytest

from kebab.core.review import StoredUnit, Unit, UnitResult
from kebab.errors.catalog import ReadOnly
from kebab.store.sqlite.connection import create_schema, read_migrations
from kebab.store.sqlite.reviews import (
    MIGRATIONS,
    SqliteReviewStore,
    build_unit,
    count_result,
    count_work,
    decode_result,
    encode_unit,
    get_reviews_path,
    read_work,
)
from tests.fakes.review_store import make_full_result, make_part, make_result, make_run, make_units

WRITES = {
    "run": lambda store: store.add_run(make_run("r2")),
    "document": lambda store: store.add_document("r1", make_part(1, first=2), make_units()),
    "cut": lambda store: store.cut_document("r1", 0),
    "unit": lambda store: store.finish_unit("r1", 0, make_result()),
    "cursor": lambda store: store.add_cursor("r1", "c", (0, 0)),
    "delete": lambda store: store.delete_run("r1"),
}


@pytest.fixture
def store(tmp_path):
    with SqliteReviewStore(tmp_path, 30) as opened:
        opened.add_run(make_run())
        opened.add_document("r1", make_part(), make_units())
        yield opened


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_can_be_switched_off(store, tmp_path, write):
    with SqliteReviewStore(tmp_path, 30, read_only=True) as closed:
        with pytest.raises(ReadOnly):
            write(closed)
        assert closed.load_run("r1") == store.load_run("r1")


def test_deleting_where_nothing_is_stored_creates_nothing(tmp_path):
    with SqliteReviewStore(tmp_path / "absent", 30) as opened:
        assert opened.delete_run("r1") is False
    assert list(tmp_path.iterdir()) == []


def test_another_connection_sees_a_result_at_once(store, tmp_path):
    store.finish_unit("r1", 0, make_result(1))

    with SqliteReviewStore(tmp_path, 30) as other:
        assert other.finish_unit("r1", 0, make_result(2)) == make_result(1)


def test_of_two_writers_of_one_unit_both_get_the_same_result(store, tmp_path):
    found = []

    def finish(at):
        with SqliteReviewStore(tmp_path, 30) as opened:
            found.append(opened.finish_unit("r1", 0, make_result(at)))

    threads = [threading.Thread(target=finish, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [store.load_unit("r1", 0).result] * 4


def test_no_row_of_a_deleted_run_is_left(store, tmp_path):
    store.finish_unit("r1", 0, make_result(1))
    store.add_cursor("r1", "c", (0, 1))
    store.delete_run("r1")
    store.close()

    database = apsw.Connection(str(get_reviews_path(tmp_path)))
    tables = ("runs", "run_inputs", "documents", "units", "cursors", "pages")
    assert [database.execute(f"SELECT count(*) FROM {name}").get for name in tables] == [0] * 6
    database.close()


def test_a_run_of_an_earlier_build_stays_readable_and_its_cut_off_units_are_unanswered(tmp_path):
    path = get_reviews_path(tmp_path)
    first, *_ = read_migrations(MIGRATIONS)
    units = make_units(3)
    results = [make_result(1), make_result(2, requests=9, truncated=True), make_result(3)]
    with closing(apsw.Connection(str(path))) as database:
        database.execute(first.read_text(encoding="utf-8"))
        database.execute("PRAGMA user_version = 1")
        database.execute(
            "INSERT INTO runs VALUES (1, 'r1', 'review', 'quick', 'm', 's', 3, 1, 1, 1)"
        )
        database.execute("INSERT INTO run_inputs VALUES (1, '{}', '[\"/notes/a.md\"]')")
        database.execute("INSERT INTO documents VALUES (1, 0, 0, 0, 3, 3, 'h', 0, 0)")
        database.executemany(
            "INSERT INTO units VALUES (1, ?, 0, ?, 1, ?)",
            [
                (number, encode_unit(unit), msgspec.json.encode(result))
                for number, (unit, result) in enumerate(zip(units, results, strict=True))
            ],
        )
    with SqliteReviewStore(tmp_path, 30) as store:
        assert store.list_documents("r1") == [make_part(units=3, content_hash="h")]
        assert [one.result for one in store.list_units("r1", 0, 9)] == results
        assert [one.number for one in store.list_unanswered("r1")] == [1]
        assert store.list_runs()[0].completed is False


def test_a_clean_result_takes_two_bytes():
    assert msgspec.json.encode(UnitResult()) == b"{}"
    assert decode_result(b"{}") == UnitResult()


def test_a_result_survives_with_every_field():
    assert decode_result(msgspec.json.encode(make_full_result())) == make_full_result()


def test_an_unfinished_unit_has_no_result():
    unit = Unit("proofread", (3, 7), 10, 90, 1)

    assert build_unit((5, 2, encode_unit(unit), None, 0)) == StoredUnit(5, 2, unit, None)


@pytest.mark.parametrize("stored", [b"", b"[]", b'{"items":[{"uid":"x"}]}'])
def test_a_damaged_result_is_refused(stored):
    with pytest.raises(msgspec.DecodeError):
        decode_result(stored)


@pytest.fixture
def database():
    with closing(create_schema(MIGRATIONS)) as opened:
        for run, tier in ((1, "quick"), (2, "deep")):
            opened.execute(
                "INSERT INTO runs VALUES (?, 'r' || ?, 'review', ?, NULL, '', 1, 0, 0, 0)",
                (run, run, tier),
            )
        yield opened


def test_counters_of_one_minute_are_one_row(database):
    for second in range(120, 180, 20):
        count_result(database, 1, second, UnitResult())
    count_result(database, 1, 180, UnitResult())

    assert database.execute("SELECT minute, units FROM work").fetchall() == [(2, 3), (3, 1)]


def test_counters_are_read_by_tier(database):
    count_result(database, 1, 60, make_result(1))
    count_result(database, 2, 60, make_result(1, 2, requests=1, latency_ms=2.5))
    count_work(database, 2, 60, cursor_retries=1)

    deep, quick = read_work(database, None)
    assert (deep.tier, deep.items, deep.answered, deep.latency_ms) == ("deep", 2, 2, 2.5)
    assert (deep.cursor_retries, deep.runs) == (1, 1)
    assert (quick.tier, quick.items, quick.answered, quick.requests) == ("quick", 1, 0, 0)


def test_nothing_is_counted_for_a_run_that_is_gone(database):
    count_result(database, 9, 60, UnitResult())

    assert read_work(database, None) == []
