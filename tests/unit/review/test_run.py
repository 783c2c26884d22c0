"""The pages of a run, which use all of `RunUnits`, are tested in `test_pages.py`."""

from typing import Any

import pytest
from msgspec import UNSET

from kebab.core.progress import Cancel
from kebab.core.review import UnitKey
from kebab.errors.catalog import InvalidInput, IoError
from kebab.review.run import RunReporter, RunStopped, RunUnits
from kebab.review.worker import RunPorts
from tests.fakes.review_runs import Desk, build_failure
from tests.fakes.review_store import make_finished, make_run


def make_reporter(events, **options):
    return RunReporter(make_run(), events.append, **{"holds_pages": False, **options})


def open_units(desk, cancel=None):
    ports = RunPorts(
        store=desk.store,
        worker=desk.worker,
        asks_model=True,
        load=desk.load,
        report=desk.events.append,
        cancel=cancel or Cancel(),
        build_failure=build_failure,
    )
    return RunUnits(desk.run, ports, make_reporter(desk.events))


def finish_all(units):
    while units.find_next() is not None:
        units.finish_next()


def test_documents_are_planned_when_they_are_reached():
    desk = Desk({"a.md": "0", "b.md": "0"})
    units = open_units(desk)
    assert desk.store.list_documents("r1") == []

    assert units.find_next() == UnitKey(0, 0)
    assert len(desk.store.list_documents("r1")) == 1
    units.finish_next()
    assert units.find_next() == UnitKey(1, 0)
    units.finish_next()
    assert units.find_next() is None


def test_a_run_is_unfinished_until_its_last_unit_has_an_answer():
    desk = Desk({"a.md": "0 0", "b.md": "0", "empty.md": ""})
    units = open_units(desk)
    for _ in range(3):
        assert open_units(desk).is_unfinished
        assert units.find_next() is not None
        units.finish_next()
    assert units.find_next() is None

    assert not units.is_unfinished
    assert not open_units(desk).is_unfinished


def test_a_finished_unit_is_not_worked_on_again():
    desk = Desk({"a.md": "0 0 0"})
    finish_all(open_units(desk))
    worked = list(desk.worker.worked)
    finish_all(open_units(desk))

    assert desk.worker.worked == worked == [("a.md", 0), ("a.md", 1), ("a.md", 2)]


def test_two_requests_that_take_turns_finish_every_unit_once_in_the_store():
    desk = Desk({"a.md": "0 1 1", "b.md": "0 1"})
    both = open_units(desk), open_units(desk)
    while any(units.find_next() is not None for units in both):
        for units in both:
            if units.find_next() is not None:
                units.finish_next()

    keys = [state.key for state in desk.store.list_states("r1")]
    assert sorted(keys) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert not any(units.is_unfinished for units in both)


def test_the_entry_that_another_request_stored_counts():
    desk = Desk({"a.md": "0 1"})
    units, other = open_units(desk), make_finished(0, 9)
    units.find_next()
    desk.store.add_unit("r1", other)
    units.finish_next()

    assert desk.store.list_units("r1", 0, 9) == [other]
    assert units.find_next() == UnitKey(0, 1)


def test_a_stop_is_heeded_before_a_unit_and_before_a_document():
    desk, cancel = Desk({"a.md": "0", "b.md": "0"}), Cancel()
    units = open_units(desk, cancel)
    units.find_next()
    cancel.request()
    with pytest.raises(RunStopped):
        units.finish_next()

    with pytest.raises(RunStopped):
        open_units(Desk({"c.md": "0"}), cancel).find_next()


@pytest.mark.parametrize("text", ["0 odd 9", None], ids=["edited", "deleted"])
def test_a_document_that_is_not_the_same_is_not_asked_about_again(text):
    desk = Desk({"a.md": "0 odd", "b.md": "0 odd"})
    finish_all(open_units(desk))
    desk.worker.confused = False
    desk.worker.worked.clear()
    del desk.texts["a.md"]
    if text is not None:
        desk.texts["a.md"] = text
    units = open_units(desk)
    finish_all(units)

    assert desk.worker.worked == [("b.md", 1)]
    assert [(one.file, one.lines) for one in units.list_unanswered()] == [("a.md", None)]


def test_the_only_document_must_be_readable():
    desk = Desk({"a.md": "0"})
    desk.texts.clear()

    with pytest.raises(IoError):
        open_units(desk).find_next()


def test_a_run_that_is_deleted_during_the_work_ends_it():
    desk = Desk({"a.md": "0", "b.md": "0"})
    units = open_units(desk)
    units.find_next()
    desk.store.add_run(make_run("r2"))  # the old run has had no work for long

    with pytest.raises(InvalidInput, match="deleted"):
        units.finish_next()
    with pytest.raises(InvalidInput, match="deleted"):
        open_units(desk).find_next()


def test_every_event_names_the_run():
    events: list[Any] = []
    reporter = make_reporter(events)
    reporter.report_stage(7, 0, "proofread", "done", item_count=2)
    reporter.report_progress(7, None, is_slow=True)
    reporter.report_progress(8, 9, is_slow=True)

    stage, early, late = (event.data for event in events)
    assert [event.type for event in events] == ["stage", "progress", "progress"]
    assert {data.run_id for data in (stage, early, late)} == {"r1"}
    assert (stage.chunk_id, stage.stage, stage.status) == ("chunk-7", "proofread", "done")
    assert (stage.label, stage.item_count) == ("/notes/a.md", 2)
    assert (early.emitted, early.total) == (8, UNSET)
    assert (late.chunk_id, late.emitted, late.total) == ("chunk-8", 9, 9)


def test_pages_wait_until_they_are_released():
    events: list[Any] = []
    reporter = make_reporter(events, holds_pages=True)
    reporter.report("items")
    reporter.report("progress")
    assert [event.type for event in events] == ["progress"]
    reporter.release()
    reporter.report("items")

    assert [event.type for event in events] == ["progress", "items", "items"]


def test_units_that_take_no_time_share_an_event():
    events: list[Any] = []
    reporter = make_reporter(events)
    for number in range(250):
        reporter.report_progress(number, 250, is_slow=False)

    assert [event.data.emitted for event in events] == [100, 200]
