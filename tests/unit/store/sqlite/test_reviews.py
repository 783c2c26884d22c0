"""What only the adapter does; `tests/ports/test_review_store.py` holds it to the port."""

import threading
import time
from contextlib import closing

import apsw
import pytest

from kebab.core.review import Position, StoredPage
from kebab.store.sqlite.connection import read_migrations
from kebab.store.sqlite.reviews import MIGRATIONS, SqliteReviewStore, get_reviews_path
from tests.fakes.review_store import make_finished, make_planned, make_run

PAGE = StoredPage(Position(0, 0), Position(0, 1))


@pytest.fixture
def store(tmp_path):
    with SqliteReviewStore(tmp_path, 30) as opened:
        opened.add_run(make_run())
        opened.add_document("r1", make_planned())
        yield opened


def test_of_several_writers_of_one_entry_one_succeeds(store, tmp_path):
    stored = []

    def finish(at):
        with SqliteReviewStore(tmp_path, 30) as opened:
            if opened.add_unit("r1", make_finished(0, at)):
                stored.append(at)

    threads = [threading.Thread(target=finish, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    (winner,) = stored
    assert store.list_units("r1", 0, 9) == [make_finished(0, winner)]


def test_no_row_of_a_deleted_run_is_left(store, tmp_path):
    store.add_unit("r1", make_finished(0, 1))
    store.add_page("r1", "c", PAGE)
    store.close()
    later = time.time() + 31 * 86_400
    with SqliteReviewStore(tmp_path, 30, now=lambda: later) as opened:
        opened.add_run(make_run("r2", created=later))

    with closing(apsw.Connection(str(get_reviews_path(tmp_path)))) as database:
        tables = ("runs", "documents", "units", "pages")
        counts = [database.execute(f"SELECT count(*) FROM {name}").get for name in tables]
    assert counts == [1, 0, 0, 0]


def test_the_file_of_an_earlier_build_is_migrated_without_its_runs(tmp_path):
    *earlier, _ = read_migrations(MIGRATIONS).values()
    with closing(apsw.Connection(str(get_reviews_path(tmp_path)))) as database:
        for script in earlier:
            database.execute(script.read_text(encoding="utf-8"))
        database.execute(f"PRAGMA user_version = {len(earlier)}")
        database.execute(
            "INSERT INTO runs VALUES (1, 'r1', 'review', 'quick', 'm', 's', 3, 1, 1, 1)"
        )
    with SqliteReviewStore(tmp_path, 30) as store:
        store.add_run(make_run())
        assert store.load_run("r1") == make_run()
