"""The conformance suite of the port `ReviewStore`: the adapter runs it in memory and in a file."""

import pytest

from kebab.core.review import (
    FinishedUnit,
    Position,
    StoredPage,
    UnitKey,
    UnitResult,
    UnitState,
)
from kebab.store.sqlite.reviews import SqliteReviewStore
from tests.fakes.review_store import (
    make_finished,
    make_full_result,
    make_planned,
    make_result,
    make_run,
)

KEEP_DAYS = 2
DAY_S = 86_400


class Clock:
    """A clock that stands still."""

    def __init__(self):
        self.time = 6000.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path, clock):
    if request.param == "memory":
        yield SqliteReviewStore(None, KEEP_DAYS, now=clock)
        return
    with SqliteReviewStore(tmp_path / "data", KEEP_DAYS, now=clock) as opened:
        yield opened


@pytest.fixture
def run(store):
    """Return a stored run with one planned document of two units."""
    store.add_run(make_run())
    store.add_document("r1", make_planned())
    return "r1"


@pytest.mark.parametrize(
    "run",
    [
        make_run(),
        make_run(kind="translate", tier="draft", model=None, files=()),
        make_run("백업 'x'; --", request='{"names":["가\\u0000"]}', files=("/n/é\u2028", "/n/'")),
        make_run(created=1_700_000_000.123),
    ],
    ids=["review", "translation", "hostile", "times"],
)
def test_a_run_is_stored_unchanged(store, run):
    store.add_run(run)

    assert store.load_run(run.run_id) == run


def test_the_first_plan_of_a_document_stays(store, run):
    assert store.add_document(run, make_planned(1, units=1)) == make_planned(1, units=1)
    assert store.add_document(run, make_planned(1)) == make_planned(1, units=1)
    assert store.list_documents(run) == [make_planned(), make_planned(1, units=1)]


def test_nothing_is_stored_for_an_unknown_run(store):
    page = StoredPage(Position(0, 0), Position(1, 0))

    assert store.add_document("r9", make_planned()) is None
    assert store.add_unit("r9", make_finished(0)) is False
    assert store.add_page("r9", "c", page) == page
    assert store.find_page("r9", "c") is None


@pytest.mark.parametrize(
    "result", [UnitResult(), make_result(1, 2), make_full_result()], ids=["clean", "items", "full"]
)
def test_a_finished_unit_is_stored_unchanged(store, run, result):
    unit = FinishedUnit(0, UnitKey(0, 1), result)
    assert store.add_unit(run, unit) is True

    assert store.list_units(run, 0, 9) == [unit]


def test_the_list_of_finished_units_only_grows(store, run):
    first, other = make_finished(0, 1), make_finished(0, 2)
    assert store.add_unit(run, first) is True
    assert store.add_unit(run, other) is False
    assert store.add_unit(run, make_finished(1)) is True

    assert store.list_units(run, 0, 1) == [first]
    assert store.list_units(run, 1, 9) == [make_finished(1)]


def test_the_states_tell_which_units_have_an_answer(store, run):
    store.add_unit(run, make_finished(0))
    store.add_unit(run, make_finished(1, 2, requests=1, unanswered=True))
    store.add_unit(run, make_finished(2, place=1, requests=1))

    key = UnitKey(0, 1)
    assert store.list_states(run) == [
        UnitState(UnitKey(0, 0), answered=True),
        UnitState(key, answered=False),
        UnitState(key, answered=True),
    ]


def test_the_first_end_of_a_page_stays(store, run):
    start = Position(0, 1)
    begun = StoredPage(start, None)
    assert store.add_page(run, "c", begun) == begun
    page = StoredPage(start, Position(2, 0))

    assert store.add_page(run, "c", page) == page
    assert store.add_page(run, "c", StoredPage(start, Position(1, 1))) == page
    assert store.add_page(run, "c", begun) == page
    assert store.find_page(run, "c") == page


def test_a_new_run_deletes_those_without_work_within_the_age_limit(store, clock):
    for name in ("idle", "worked"):
        store.add_run(make_run(name, created=clock.time))
        store.add_document(name, make_planned())
    clock.time += KEEP_DAYS * DAY_S
    store.add_unit("worked", make_finished(0))
    clock.time += 1
    store.add_run(make_run("new", created=clock.time))

    kept = [name for name in ("idle", "worked", "new") if store.load_run(name)]
    assert kept == ["worked", "new"]


def test_the_work_of_the_model_is_counted_over_all_runs(store, run):
    assert store.count_work() == (0, 0, 0, 0)
    store.add_unit(run, make_finished(0))
    store.add_unit(run, make_finished(1, requests=1))
    store.add_unit(run, make_finished(2, requests=3, truncated=True, unanswered=True))
    store.add_unit(run, make_finished(3, requests=2))

    assert store.count_work() == (3, 1, 2, 1)
