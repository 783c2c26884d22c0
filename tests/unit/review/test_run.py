"""The pages of a run, which use all of `RunUnits`, are tested in `test_pages.py`."""

from typing import Any

import pytest
from msgspec import UNSET

from kebab.core.progress import Cancel
from kebab.core.review import StoredUnit
from kebab.errors.catalog import InvalidInput, IoError
from kebab.review.run import RunReporter, RunStopped, RunUnits
from kebab.review.worker import RunPorts
from tests.fakes.review_runs import Desk, ScriptedWorker, build_failure
from tests.fakes.review_store import make_result, make_run, make_units


def open_units(desk, cancel=None):
    ports = RunPorts(
        store=desk.store,
        base=ScriptedWorker(full=False),
        full=desk.full,
        load=desk.load,
        report=desk.events.append,
        cancel=cancel or Cancel(),
        build_failure=build_failure,
    )
    return RunUnits(desk.run, ports, RunReporter(desk.run, desk.events.append))


def finish_all(units):
    number, found = 0, []
    while (part := units.find_part(number)) is not None:
        number = max(number, part.first)
        result = units.finish(part, number)
        if result is not None:
            found.append((part.file, number))
            number += 1
    return found


def test_documents_are_planned_when_they_are_reached():
    desk = Desk({"a.md": "0 0", "b.md": "0"})
    units = open_units(desk)
    assert desk.store.list_documents("r1") == []

    assert units.find_part(1).file == 0
    assert len(desk.store.list_documents("r1")) == 1
    assert units.find_part(2).file == 1
    assert units.find_part(3) is None


def test_the_rules_of_a_document_are_stored_with_its_plan():
    desk = Desk({"a.md": "2 0"})
    open_units(desk).find_part(0)

    assert len(desk.store.load_unit("r1", 0).result.items) == 2
    assert desk.store.load_unit("r1", 1).result is None


def test_a_finished_unit_is_not_worked_on_again():
    desk = Desk({"a.md": "0 0 0"})
    assert finish_all(open_units(desk)) == [(0, 0), (0, 1), (0, 2)]
    worked = list(desk.full.worked)

    assert finish_all(open_units(desk)) == [(0, 0), (0, 1), (0, 2)]
    assert desk.full.worked == worked
    assert not open_units(desk).is_unfinished


def test_a_run_is_unfinished_until_its_last_unit_has_a_result():
    desk = Desk({"a.md": "0 0", "b.md": "0 0", "empty.md": ""})
    units = open_units(desk)
    assert units.is_unfinished

    for number in range(4):
        assert open_units(desk).is_unfinished
        assert units.finish(units.find_part(number), number) is not None
    assert units.is_unfinished
    assert units.find_part(4) is None

    assert not units.is_unfinished
    assert not open_units(desk).is_unfinished


def test_two_requests_that_take_turns_finish_every_unit_once_in_the_store():
    desk = Desk({"a.md": "0 1 1", "b.md": "0 1"})
    first, second = open_units(desk), open_units(desk)
    for number in range(5):
        for units in (first, second):
            assert units.finish(units.find_part(number), number) is not None

    assert not first.is_unfinished
    assert len(desk.store.list_documents("r1")) == 2


def test_the_result_that_another_request_stored_counts():
    desk = Desk({"a.md": "0 1"})
    units = open_units(desk)
    part = units.find_part(0)
    other = make_result(9)
    desk.full.work = lambda *_: desk.store.finish_unit("r1", 1, other) and make_result(8)

    assert units.finish(part, 1) == other


def test_a_unit_that_another_request_cut_off_is_done_later():
    desk = Desk({"a.md": "0 1 1", "b.md": "0"})
    units, other = open_units(desk), open_units(desk)
    part = units.find_part(0)
    units.finish(part, 0)
    other.find_part(0)
    desk.store.cut_document("r1", 0)

    assert finish_all(units) == [(0, 0), (1, 3), (0, 5), (0, 6)]
    assert not units.is_unfinished


def test_a_stop_is_heeded_before_a_unit_and_before_a_document():
    desk, cancel = Desk({"a.md": "0 0", "b.md": "0"}), Cancel()
    units = open_units(desk, cancel)
    part = units.find_part(0)
    cancel.request()

    assert units.finish(part, 0) is not None
    with pytest.raises(RunStopped):
        units.finish(part, 1)
    with pytest.raises(RunStopped):
        units.find_part(2)


@pytest.mark.parametrize("text", ["0 odd 9", None], ids=["edited", "deleted"])
def test_a_document_that_is_not_the_same_is_not_asked_about_again(text):
    desk = Desk({"a.md": "0 odd", "b.md": "0 odd"})
    finish_all(open_units(desk))
    desk.full.confused = False
    desk.full.worked.clear()
    del desk.texts["a.md"]
    if text is not None:
        desk.texts["a.md"] = text
    units = open_units(desk)
    finish_all(units)

    assert desk.full.worked == [("b.md", 1)]
    assert [one.file for one in units.list_unanswered(0, 9, is_last=True)] == ["a.md"]


def test_the_only_document_must_be_readable():
    desk = Desk({"a.md": "0"})
    desk.texts.clear()

    with pytest.raises(IoError):
        open_units(desk).find_part(0)


def test_a_run_that_is_deleted_during_the_work_ends_it():
    desk = Desk({"a.md": "0", "b.md": "0"})
    units = open_units(desk)
    units.find_part(0)
    desk.store.delete_run("r1")

    with pytest.raises(InvalidInput, match="deleted"):
        units.find_part(1)


def test_every_event_names_the_run():
    events: list[Any] = []
    reporter = RunReporter(make_run(), events.append)
    unit = StoredUnit(7, 0, make_units()[1], None)
    reporter.report_stage(unit, "/notes/a.md", "done", item_count=2)
    reporter.report_progress(7, None, always=True)
    reporter.report_progress(8, 9, always=True)

    stage, early, late = (event.data for event in events)
    assert [event.type for event in events] == ["stage", "progress", "progress"]
    assert {data.run_id for data in (stage, early, late)} == {"r1"}
    assert (stage.chunk_id, stage.stage, stage.status) == ("chunk-7", "proofread", "done")
    assert (stage.label, stage.item_count) == ("/notes/a.md", 2)
    assert (early.emitted, early.total) == (8, UNSET)
    assert (late.chunk_id, late.emitted, late.total) == ("chunk-8", 9, 9)


def test_pages_wait_until_they_are_released():
    events: list[Any] = []
    reporter = RunReporter(make_run(), events.append, holds_pages=True)
    reporter.report("items")
    reporter.report("progress")
    assert [event.type for event in events] == ["progress"]
    reporter.release()
    reporter.report("items")

    assert [event.type for event in events] == ["progress", "items", "items"]


def test_units_that_take_no_time_share_an_event():
    events: list[Any] = []
    reporter = RunReporter(make_run(), events.append)
    for number in range(250):
        reporter.report_progress(number, 250)

    assert [event.data.emitted for event in events] == [100, 200]
