from contextlib import closing

import pytest

from kebab.core.review import UnitResult
from kebab.store.sqlite.connection import create_schema
from kebab.store.sqlite.reviews import MIGRATIONS, count_result, count_work, read_work
from tests.fakes.review_store import make_result


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
