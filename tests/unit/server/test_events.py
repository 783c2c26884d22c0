"""The events of a review become a stream that ends with `end`."""

import pytest
from msgspec.structs import replace

from kebab.app.classify import classify_error
from kebab.errors.catalog import ModelUnreachable
from kebab.errors.signal import Exit
from kebab.server.events import ReviewEncoder
from tests.fakes.review_stream import RUN, make_event, make_item, make_page


def list_types(events):
    return [event.type for event, _ in events]


def test_a_page_that_was_not_reported_comes_before_the_end():
    frames = ReviewEncoder()
    page = make_page(make_item())
    events = list(frames.build_end(page))

    assert list_types(events) == ["items", "complete", "end"]
    (items, complete, end) = (event for event, _ in events)
    assert items.data == page
    assert str(complete.data.completed_at).endswith("Z")
    assert end.data.completed
    assert {event.data.run_id for event, _ in events} == {RUN}
    assert [status for _, status in events] == [None, Exit.NO, Exit.NO]


@pytest.mark.parametrize(
    ("change", "reason"), [("partial", "did not answer about all"), ("truncated", "were cut off")]
)
def test_the_end_says_what_the_model_left_out(change, reason):
    page = replace(make_page(make_item()), **{change: True})
    events = list(ReviewEncoder().build_end(page))

    assert list_types(events) == ["items", "end"]
    assert not events[1][0].data.completed
    assert reason in events[1][0].data.reason


def test_an_error_names_the_stage_in_which_it_occurred():
    frames = ReviewEncoder()
    frames.take(make_event("stage", stage="detect", status="in_progress", label="reading"))
    fault = ModelUnreachable(endpoint="http://127.0.0.1:1", operation="review", cause="refused")
    told = classify_error(fault, operation="review")
    (error, _), (end, status) = frames.build_failure(told.reply, told.exit)

    assert (error.type, error.data.run_id, error.data.stage) == ("error", RUN, "detect")
    assert (error.data.code, error.data.retryable) == ("model_unreachable", True)
    assert (end.type, end.data.completed, end.data.reason) == ("end", False, "model_unreachable")
    assert status is Exit.ERROR


def test_the_status_is_that_of_all_pages():
    frames = ReviewEncoder()
    frames.take(make_event("items", page=make_page(make_item(), cursor="next")))
    list(frames.build_end(make_page(unit=3)))

    assert frames.status is Exit.NO
