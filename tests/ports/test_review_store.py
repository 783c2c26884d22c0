"""The conformance suite of the port `ReviewStore`: the adapter runs it in memory and in a file."""

import pytest

from kebab.core.review import (
    Position,
    RulesResult,
    RunSummary,
    StoredPage,
    Unit,
    UnitResult,
    WorkCounts,
)
from kebab.store.sqlite.reviews import SqliteReviewStore
from tests.fakes.review_store import (
    make_full_result,
    make_part,
    make_result,
    make_run,
    make_units,
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
    store.add_document("r1", make_part(), make_units())
    return "r1"


@pytest.mark.parametrize(
    "run",
    [
        make_run(),
        make_run(kind="translate", tier="draft", model=None, files=()),
        make_run("백업 'x'; --", request='{"names":["가\\u0000"]}', files=("/n/é\u2028", "/n/'")),
        make_run(created=1_700_000_000.123, updated=1_700_000_001.5),
    ],
    ids=["review", "translation", "hostile", "times"],
)
def test_a_run_is_stored_unchanged(store, run):
    store.add_run(run)

    assert store.load_run(run.run_id) == run


def test_an_empty_store_has_nothing(store):
    assert store.load_run("r1") is None
    assert store.list_runs() == []
    assert store.list_documents("r1") == []
    assert store.load_unit("r1", 0) is None
    assert store.list_units("r1", 0, 9) == []
    assert store.find_cursor("r1", "c") is None
    assert store.find_page("r1", Position(0, 0)) is None
    assert store.count_work() == []
    assert store.delete_run("r1") is False


def test_documents_are_listed_with_their_units(store, run):
    later = make_part(1, first=2, units=1)
    assert store.add_document(run, later, make_units(1)) is True

    assert store.list_documents(run) == [make_part(), later]
    assert [one.unit for one in store.list_units(run, 0, 3)] == [*make_units(), *make_units(1)]
    assert [(one.number, one.document) for one in store.list_units(run, 1, 3)] == [(1, 0), (2, 1)]
    assert store.load_unit(run, 2) == store.list_units(run, 2, 3)[0]
    assert store.load_unit(run, 3) is None


def test_the_first_plan_of_a_document_stays(store, run):
    other = make_part(units=1, content_hash="other")

    assert store.add_document(run, other, make_units(1), [make_result(7)]) is False
    assert store.list_documents(run) == [make_part()]
    assert len(store.list_units(run, 0, 9)) == 2
    assert store.load_unit(run, 0).result is None


def test_a_document_can_be_stored_with_the_results_of_its_first_units(store, run):
    store.add_document(run, make_part(1, first=2, units=2), make_units(2), [make_result(5)])

    assert store.load_unit(run, 2).result == make_result(5)
    assert store.load_unit(run, 3).result is None


def test_a_document_of_an_unknown_run_is_not_stored(store):
    assert store.add_document("r9", make_part(), make_units()) is False
    assert store.list_documents("r9") == []


@pytest.mark.parametrize(
    "result", [UnitResult(), make_result(1, 2), make_full_result()], ids=["clean", "items", "full"]
)
def test_a_result_is_stored_unchanged(store, run, result):
    assert store.finish_unit(run, 1, result) == result

    assert store.load_unit(run, 1).result == result
    assert store.load_unit(run, 0).result is None


def test_the_first_result_of_a_unit_stays(store, run):
    store.finish_unit(run, 0, make_result(1))

    assert store.finish_unit(run, 0, make_result(2)) == make_result(1)
    assert store.load_unit(run, 0).result == make_result(1)


def test_a_unit_that_does_not_exist_is_not_finished(store, run):
    assert store.finish_unit(run, 2, make_result()) is None
    assert store.finish_unit("r9", 0, make_result()) is None


def test_unanswered_units_are_listed_until_a_part_has_them_again(store, run):
    store.finish_unit(run, 0, make_result(1))
    store.finish_unit(run, 1, make_result(2, requests=1, unanswered=True))
    (unit,) = store.list_unanswered(run)
    assert (unit.number, unit.unanswered, unit.result.items) == (1, True, make_result(2).items)
    assert store.load_unit(run, 0).unanswered is False
    assert (store.list_runs()[0].units_done, store.list_runs()[0].items) == (1, 2)

    again = make_part(1, file=0, first=3, units=1, again=True)
    store.add_document(run, again, [unit.unit])
    assert store.list_documents(run)[-1] == again
    assert store.list_unanswered(run) == []
    store.finish_unit(run, 3, make_result(4, requests=1))
    store.add_document(run, make_part(2, file=1, first=4, units=1), make_units(1), [make_result()])

    summary = store.list_runs()[0]
    assert (summary.units_done, summary.items, summary.completed) == (3, 3, True)


def test_a_run_with_an_unanswered_unit_is_not_completed(store):
    store.add_run(make_run(files=("/notes/a.md",)))
    store.add_document("r1", make_part(), make_units(), [make_result()])
    store.finish_unit("r1", 1, make_result(requests=1, unanswered=True))

    assert store.list_runs()[0].completed is False
    assert store.list_unanswered("r9") == []


def test_a_cut_document_loses_its_unfinished_units_and_waits(store, run):
    store.finish_unit(run, 0, make_result(1))
    store.cut_document(run, 0)

    assert store.list_documents(run) == [make_part()._replace(units=1, waiting=True)]
    assert [one.number for one in store.list_units(run, 0, 9)] == [0]
    assert store.finish_unit(run, 1, make_result(2)) is None


def test_a_finished_document_is_not_cut(store, run):
    store.finish_unit(run, 0, make_result())
    store.finish_unit(run, 1, make_result())
    store.cut_document(run, 0)

    assert store.list_documents(run) == [make_part()]


def test_a_further_part_ends_the_waiting_of_its_document_only(store, run):
    store.cut_document(run, 0)
    store.add_document(run, make_part(1, first=2, units=1, waiting=True), make_units(1))
    store.add_document(run, make_part(2, first=3, file=0, skipped=1), make_units())

    assert [one.waiting for one in store.list_documents(run)] == [False, True, False]
    assert store.list_documents(run)[2].skipped == 1


def test_a_cursor_belongs_to_its_run(store, run):
    store.add_run(make_run("r2"))
    store.add_cursor(run, "c", Position(3, 4))

    assert store.find_cursor(run, "c") == Position(3, 4)
    assert store.find_cursor("r2", "c") is None
    assert store.find_cursor(run, "C") is None


def test_a_cursor_keeps_its_first_meaning(store, run):
    store.add_cursor(run, "c", Position(3, 4))
    store.add_cursor(run, "c", Position(0, 0))
    store.add_cursor("r9", "c", Position(0, 0))

    assert store.find_cursor(run, "c") == Position(3, 4)
    assert store.find_cursor("r9", "c") is None


def test_the_first_end_of_a_page_stays_and_every_repetition_is_counted(store, run):
    page = StoredPage(Position(0, 1), Position(2, 0), forced=True, retries=0)
    other = StoredPage(Position(0, 1), Position(1, 1), forced=False, retries=0)

    assert store.add_page(run, page) == page
    assert store.add_page(run, other) == page._replace(retries=1)
    assert store.add_page(run, page) == page._replace(retries=2)
    assert store.find_page(run, Position(0, 1)) == page._replace(retries=2)
    assert store.find_page(run, Position(0, 0)) is None


def test_a_page_of_an_unknown_run_is_not_stored(store):
    page = StoredPage(Position(0, 0), Position(1, 0), forced=False, retries=0)

    assert store.add_page("r9", page) == page
    assert store.find_page("r9", Position(0, 0)) is None


def test_a_deleted_run_is_gone_with_all_that_belongs_to_it(store, run):
    store.add_run(make_run("r2"))
    store.add_document("r2", make_part(), make_units())
    store.finish_unit(run, 0, make_result(1))
    store.add_cursor(run, "c", Position(0, 1))
    store.add_page(run, StoredPage(Position(0, 0), Position(0, 1), forced=False, retries=0))

    assert store.delete_run(run) is True
    assert store.delete_run(run) is False
    store.add_run(make_run())

    assert store.list_documents(run) == []
    assert store.load_unit(run, 0) is None
    assert store.find_cursor(run, "c") is None
    assert store.find_page(run, Position(0, 0)) is None
    assert len(store.list_documents("r2")) == 1


def test_a_new_run_deletes_those_that_were_not_used_within_the_age_limit(store, clock):
    for name in ("idle", "worked", "read"):
        store.add_run(make_run(name, created=clock.time, updated=clock.time))
        store.add_document(name, make_part(), make_units())
    clock.time += KEEP_DAYS * DAY_S
    store.finish_unit("worked", 0, make_result())
    store.add_page("read", StoredPage(Position(0, 0), Position(0, 0), forced=False, retries=0))
    clock.time += 1
    store.add_run(make_run("new", created=clock.time, updated=clock.time))

    assert {one.run_id for one in store.list_runs()} == {"worked", "read", "new"}


def test_runs_are_listed_with_what_is_done_the_newest_first(store, clock):
    store.add_run(make_run("old"))
    store.add_run(make_run("new", created=2000.0, updated=2000.0))
    store.add_document("old", make_part(), make_units(), [make_result(1, 2)])
    clock.time = 7000.0
    store.finish_unit("old", 1, make_result(3))

    new, old = store.list_runs()
    assert new == RunSummary(
        run_id="new",
        kind="review",
        tier="quick",
        model="gemma3:4b",
        request='{"names":["notes"]}',
        created=2000.0,
        updated=2000.0,
        documents=2,
        units_done=0,
        items=0,
        completed=False,
    )
    assert (old.units_done, old.items, old.updated, old.completed) == (2, 3, 7000.0, False)


def test_a_run_is_complete_when_all_units_of_all_documents_are_finished(store, run):
    def is_completed():
        return store.list_runs()[0].completed

    store.finish_unit(run, 0, make_result())
    store.finish_unit(run, 1, make_result())
    assert not is_completed()
    store.add_document(run, make_part(1, first=2), make_units(), [make_result()])
    assert not is_completed()
    store.cut_document(run, 1)
    assert not is_completed()
    last = make_part(2, first=4, file=1, skipped=1, units=1)
    store.add_document(run, last, make_units()[1:], [make_result()])
    assert is_completed()


def test_the_work_is_counted_by_kind_and_tier_and_outlives_the_runs(store, run):
    store.add_run(make_run("r2"))
    store.add_run(make_run("r3", kind="translate", tier="draft"))
    store.add_document("r3", make_part(), make_units(), [make_result(1)])
    store.finish_unit(run, 0, make_result(1, 2))
    store.finish_unit(run, 1, make_full_result())
    store.finish_unit(run, 1, make_full_result())
    page = StoredPage(Position(0, 0), Position(1, 0), forced=True, retries=0)
    for _ in range(3):
        store.add_page(run, page)
    store.delete_run(run)

    review, translation = store.count_work()
    assert review == WorkCounts(
        kind="review",
        tier="quick",
        runs=1,
        units=2,
        items=4,
        answered=2,
        requests=2,
        prompt_tokens=30,
        completion_tokens=4,
        latency_ms=12.5,
        downshifts=1,
        forced_pages=1,
        cursor_retries=2,
        json_repairs=1,
    )
    assert (translation.kind, translation.tier, translation.items) == ("translate", "draft", 1)


def test_the_work_of_a_period_is_counted_in_whole_minutes(store, run, clock):
    store.finish_unit(run, 0, make_result(1))
    clock.time += 60
    store.finish_unit(run, 1, make_result(2, 3))

    assert [one.items for one in store.count_work(clock.time)] == [2]
    assert [one.items for one in store.count_work(clock.time - 60)] == [3]
    assert store.count_work(clock.time + 60) == []


def make_rules_result(content_hash="h1"):
    return RulesResult(
        content_hash=content_hash,
        lang="en",
        rules="all",
        place=("/notes", "text/markdown"),
        unit=Unit("rules", (0, 0), 0, 9),
        result=make_full_result(),
        answers=((("exists", "/notes/\u00e9 b.md"), "1"), (("today",), "5")),
    )


def test_what_the_rules_found_is_stored_unchanged_and_replaced(store):
    assert store.find_rules_result("/notes/a.md") is None
    first, second = make_rules_result(), make_rules_result("h2")

    store.add_rules_results([("/notes/a.md", first), ("/notes/b.md", first)])
    store.add_rules_results([("/notes/a.md", second)])

    assert store.find_rules_result("/notes/a.md") == second
    assert store.find_rules_result("/notes/b.md") == first


def test_what_the_rules_found_is_deleted_with_the_runs_of_its_age(store, clock):
    store.add_rules_results([("/notes/a.md", make_rules_result())])
    clock.time += (KEEP_DAYS + 1) * DAY_S
    store.add_run(make_run("r2"))

    assert store.find_rules_result("/notes/a.md") is None
