"""The pages of a run, which use all of `RunUnits`, are tested in `test_pages.py`."""

from typing import Any

import pytest
from msgspec import UNSET

from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput, IoError
from kebab.review.run import RunPorts, RunReporter, RunStopped, RunUnits
from tests.fakes.review_runs import Desk, build_failure
from tests.fakes.review_store import make_run
from tests.fakes.review_stream import make_page


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
        fail_on="suggestion",
    )
    return RunUnits(desk.run, ports, make_reporter(desk.events))


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


def test_a_stop_is_heeded_before_a_unit_and_before_a_document():
    desk, cancel = Desk({"a.md": "0", "b.md": "0"}), Cancel()
    units = open_units(desk, cancel)
    units.find_next()
    cancel.request()
    with pytest.raises(RunStopped):
        units.finish_next()

    with pytest.raises(RunStopped):
        open_units(Desk({"c.md": "0"}), cancel).find_next()


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


def test_progress_waits_for_the_page_of_its_units_and_the_page_has_its_own():
    events: list[Any] = []
    reporter = make_reporter(events)
    reporter.report_progress(7, None, is_slow=True)
    reporter.report_stage(7, 0, "proofread", "done", item_count=2)
    reporter.report_progress(8, 9, is_slow=True)
    reporter.report_page(make_page(), emitted=9, total=9)

    early, stage, page, late = events
    assert [event.type for event in events] == ["progress", "stage", "items", "progress"]
    assert (early.data.emitted, early.data.total, early.data.has_more) == (8, UNSET, True)
    assert (stage.data.chunk_id, stage.data.label) == ("chunk-7", "/notes/a.md")
    assert page.data == make_page()
    assert (late.data.emitted, late.data.has_more, late.data.cursor) == (9, False, "")


def test_pages_wait_until_they_are_released():
    events: list[Any] = []
    reporter = make_reporter(events, holds_pages=True)
    reporter.report_page(make_page(cursor="next"), emitted=1, total=2)
    assert events == []
    reporter.release()
    reporter.report_page(make_page(), emitted=2, total=2)

    assert [event.type for event in events] == ["items", "progress"] * 2
    assert [event.data.cursor for event in events[1::2]] == ["next", ""]


def test_units_that_take_no_time_share_an_event():
    events: list[Any] = []
    reporter = make_reporter(events)
    for number in range(250):
        reporter.report_progress(number, 250, is_slow=False)
        reporter.release()

    assert [event.data.emitted for event in events] == [100, 200]
