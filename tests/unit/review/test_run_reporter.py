from typing import Any

from msgspec import UNSET

from kebab.core.review import StoredUnit
from kebab.review.run import RunReporter
from tests.fakes.review_store import make_run, make_units


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
