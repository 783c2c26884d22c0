from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.errors.catalog import (
    Cancelled,
    InvalidCursor,
    ModelProtocol,
    ModelUnreachable,
    StaleCursor,
)
from kebab.errors.signal import Exit
from kebab.review.pages import describe_failure
from kebab.wire.record import find_exit_status
from tests.fakes.review_runs import Desk, ScriptedWorker, build_failure, list_places


def list_all(texts):
    """Return the place of each item of documents, as their text says."""
    return [
        (path, 100 * unit + at)
        for path, text in texts.items()
        for unit, word in enumerate(text.split())
        for at in range(int(word))
    ]


def test_a_page_has_items_of_one_document_over_several_units():
    desk = Desk({"a.md": "1 0 1", "b.md": "1"}, page_items=9)

    first, second = desk.get_all()
    assert list_places(first) == [("a.md", 0), ("a.md", 200)]
    assert (first.document.index, first.document.of, first.chunk_id) == (0, 2, "chunk-0")
    assert list_places(second) == [("b.md", 0)]
    assert (second.document.index, second.chunk_id) == (1, "chunk-3")
    assert (second.has_more, second.next_cursor, second.partial) == (False, None, False)


def test_with_all_pages_a_page_ends_with_each_unit_that_has_items():
    desk = Desk({"a.md": "0 1 0 1", "b.md": "1"})
    last = desk.get(all_pages=True)

    pages = desk.list_pages()
    assert [len(page.items) for page in pages] == [1, 1, 1]
    assert pages[-1] == last
    assert list_places(*pages) == list_all(desk.texts)
    assert (last.has_more, last.partial) == (False, False)


def test_a_chunk_is_counted_over_the_units_of_all_documents_and_of_rules():
    desk = Desk({"a.md": "1 0", "b.md": "0 1"})
    pages = desk.get_all()

    stages = [event.data for event in desk.events if event.type == "stage"]
    assert [(one.chunk_id, one.stage) for one in stages if one.status == "done"] == [
        ("chunk-0", "rules"),
        ("chunk-1", "proofread"),
        ("chunk-3", "proofread"),  # `chunk-2` are the rules of `b.md`, which found nothing
    ]
    assert [page.chunk_id for page in pages] == ["chunk-0", "chunk-2"]


def test_exhausted_limits_end_the_page():
    desk = Desk({"a.md": "0 cut 1", "b.md": "0 cut"})
    pages = desk.get_all()

    assert [(len(page.items), page.truncated) for page in pages] == [
        (1, True),
        (1, False),
        (1, True),
        (0, False),
    ]
    assert (pages[-1].has_more, pages[-1].partial) == (False, True)
    assert pages[-1].unanswered_count == 2
    assert pages[0].warnings == ["downshift_exhausted"]
    assert pages[1].warnings == []


def test_a_cursor_is_opaque_and_belongs_to_its_run():
    desk, other = Desk({"a.md": "4"}), Desk({"a.md": "4"})
    cursor = desk.get().next_cursor

    assert len(cursor) == 43
    for wrong in (cursor[:-1], cursor.swapcase(), "", "chunk-0"):
        with pytest.raises(InvalidCursor):
            desk.get(wrong)
    with pytest.raises(InvalidCursor):
        other.get(cursor)


@pytest.mark.parametrize("begin", ["again", "cursor"])
def test_a_changed_document_makes_the_run_stale(begin):
    desk = Desk({"a.md": "4", "b.md": "0"})
    cursor = desk.get().next_cursor
    desk.texts["a.md"] = "4 4"

    with pytest.raises(StaleCursor) as caught:
        desk.get(cursor if begin == "cursor" else None)
    assert caught.value.path == "/notes/a.md"
    assert caught.value.format_hint() == "review it again: `kebab review /notes/a.md`"


def test_a_stopped_page_has_what_was_found_and_the_next_request_goes_on():
    desk = Desk({"a.md": "1 stop 1", "b.md": "1"}, page_items=9)
    page = desk.get()
    assert list_places(page) == [("a.md", 0), ("a.md", 100)]
    assert (page.has_more, page.partial) == (True, True)

    desk.worker = ScriptedWorker()
    rest = desk.get(page.next_cursor)
    assert list_places(rest) == [("a.md", 200)]
    assert list_places(desk.get()) == list_places(page)


def test_work_that_is_stopped_before_it_begins_is_cancelled():
    desk = Desk({"a.md": "1"})
    desk.worker.cancel.request()

    with pytest.raises(Cancelled):
        desk.get()


def test_pages_that_wait_for_the_model_are_reported_before_an_interruption():
    desk = Desk({"a.md": "1 1"}, worker=ScriptedWorker(left=True), required=True)
    with pytest.raises(Cancelled):
        desk.get(all_pages=True)

    assert [len(event.data.items) for event in desk.events if event.type == "items"] == [1]


def test_an_interrupt_within_a_unit_stops_the_work_and_keeps_what_is_done():
    desk = Desk({"a.md": "1 1"}, worker=ScriptedWorker(left=True), page_items=9)
    page = desk.get()

    assert list_places(page) == [("a.md", 0)]
    desk.worker = ScriptedWorker()
    assert list_places(desk.get(page.next_cursor)) == [("a.md", 100)]


def test_without_the_model_the_rules_go_on_and_the_page_says_so():
    desk = Desk({"a.md": "1 1", "b.md": "1 1"}, worker=ScriptedWorker(down=True), page_items=9)
    pages = desk.get_all()

    assert list_places(*pages) == [("a.md", 0), ("b.md", 0)]
    assert [one.channel for one in pages[0].degraded] == ["llm"]
    assert (pages[-1].has_more, pages[-1].partial) == (False, True)


def test_after_a_failure_the_model_is_not_asked_again_by_the_same_request():
    desk = Desk({"a.md": "0 1", "b.md": "0 1", "c.md": "0"}, worker=ScriptedWorker(down=True))
    page = desk.get()

    assert (page.items, page.has_more, len(page.degraded)) == ([], False, 1)
    assert [event.data.status for event in desk.events if event.type == "stage"] == [
        "queued",
        "in_progress",
        "error",
    ]


def test_a_model_whose_answers_are_unusable_is_not_asked_for_long():
    desk = Desk({"a.md": "1 odd odd odd odd 1", "b.md": "1 1"}, page_items=9)
    desk.get(all_pages=True)
    pages = desk.list_pages()

    assert desk.worker.worked == [*(("a.md", at) for at in range(4)), ("b.md", 0)]
    assert list_places(*pages) == [("a.md", 0), ("b.md", 0)]
    assert [one.reason for one in pages[-1].degraded] == [build_failure(3).format_message()]
    assert (pages[-1].has_more, pages[-1].partial) == (False, True)
    assert pages[-1].unanswered_count == 2


@pytest.mark.parametrize("all_pages", [True, False], ids=["all", "one"])
def test_a_required_model_without_a_usable_answer_is_an_error_without_a_page(all_pages):
    desk = Desk({"a.md": "1 odd", "b.md": "0"}, required=True, page_items=9)
    with pytest.raises(ModelProtocol):
        desk.get(all_pages=all_pages)

    assert desk.list_pages() == []


def test_a_required_model_that_fails_late_leaves_the_rest_to_the_rules():
    desk = Desk({"a.md": "1 1 odd odd odd", "b.md": "1 1"}, required=True, page_items=9)
    desk.get(all_pages=True)

    pages = desk.list_pages()
    assert list_places(*pages) == [("a.md", 0), ("a.md", 100), ("b.md", 0)]
    assert [find_exit_status(page) for page in pages][-1] == Exit.NO
    assert pages[-1].unanswered_count == 2


def test_an_unanswered_unit_is_asked_again_by_the_next_request_only():
    desk = Desk({"a.md": "0 1 odd 1", "b.md": "0 cut"}, page_items=9)
    before = desk.get_all()
    assert list_places(*before) == [("a.md", 100), ("a.md", 300), ("b.md", 100)]
    assert before[-1].unanswered_count == 2
    assert (before[-1].has_more, before[-1].partial) == (False, True)
    desk.worker = ScriptedWorker(confused=False)
    after = desk.get_all()

    assert [page.items for page in after[: len(before) - 1]] == [page.items for page in before[:-1]]
    assert list_places(*after)[len(list_places(*before)) :] == [("a.md", 200), ("b.md", 101)]
    assert (after[-1].partial, after[-1].unanswered_count, after[-1].degraded) == (False, 0, [])
    assert desk.worker.worked == [("a.md", 2), ("b.md", 1)]
    assert not any(page.truncated or page.warnings for page in desk.get_all())


def test_a_server_that_is_lost_while_it_is_asked_again_leaves_the_units_unanswered():
    desk = Desk({"a.md": "0 odd 1 odd"}, page_items=9)
    desk.get_all()
    desk.worker = ScriptedWorker(down=True)
    assert desk.get_all()[-1].unanswered_count == 2
    desk.worker = ScriptedWorker(confused=False)
    pages = desk.get_all()

    assert sorted(list_places(*pages)) == [("a.md", place) for place in (100, 200, 300)]
    assert not pages[-1].partial


def test_a_model_that_fails_in_the_middle_is_asked_again_by_the_next_request():
    desk = Desk({"a.md": "1 1 2", "b.md": "1 1"}, page_items=1)
    first = desk.get()
    second = desk.get(first.next_cursor)
    desk.worker.down = True
    third = desk.get(second.next_cursor)
    assert (list_places(third), len(third.degraded)) == ([("b.md", 0)], 1)

    desk.worker.down = False
    assert list_places(*desk.get_all()) == [
        ("a.md", 0),
        ("a.md", 100),
        ("b.md", 0),
        ("a.md", 200),
        ("a.md", 201),
        ("b.md", 100),
    ]


def test_items_that_the_document_has_already_are_left_out():
    desk = Desk({"a.md": "0 1 1"}, page_items=9)
    work = desk.worker.work
    desk.worker.work = lambda document, unit: work(
        document, unit._replace(start=min(unit.start, 1))
    )

    assert list_places(*desk.get_all()) == [("a.md", 100)]


def test_a_run_that_is_not_stored_has_all_items_of_a_document_on_one_page():
    desk = Desk({"a.md": "1 0 2", "b.md": "1"}, is_stored=False, page_items=2**31)
    desk.get(all_pages=True)

    pages = desk.list_pages()
    assert [len(page.items) for page in pages] == [3, 1]
    # The only unit of the second one is for rules.
    assert [page.warnings for page in pages] == [
        ["run_not_stored"],
        ["no_model_text", "run_not_stored"],
    ]
    assert not pages[-1].has_more


def test_a_document_that_cannot_be_read_is_left_out_with_a_note():
    desk = Desk({"a.md": "1", "b.md": "1", "c.md": "0"})
    del desk.texts["b.md"]
    pages = desk.get_all()

    assert list_places(*pages) == [("a.md", 0)]
    assert [one.channel for page in pages for one in page.degraded] == ["document"]
    stages = [event.data.status for event in desk.events if event.type == "stage"]
    assert "error" in stages


WORDS = st.lists(st.integers(0, 4).map(str), min_size=1, max_size=4).map(" ".join)
TEXTS = st.lists(WORDS, max_size=4).map(
    lambda texts: {f"{number}.md": text for number, text in enumerate(texts)}
)


@settings(max_examples=30)
@given(TEXTS, st.integers(1, 5), st.lists(st.sampled_from(["page", "all", "again", "down"])))
def test_however_pages_are_requested_their_union_is_that_of_the_units(texts, limit, steps):
    desk = Desk(texts, page_items=limit)
    known: dict[str | None, list[tuple[str, int]]] = {}
    cursor, more, page = None, True, desk.get()
    for step in [*steps, *["page"] * 80]:
        desk.worker = ScriptedWorker(down=step == "down")
        desk.events.clear()
        if step == "again":
            cursor, more = None, True
        start, page = cursor, desk.get(cursor, all_pages=step == "all")
        for event in desk.events:
            if event.type == "items":
                seen = event.data
                if seen.document:  # a page without a finished unit is not kept
                    assert known.setdefault(start, list_places(seen)) == list_places(seen)
                assert (seen.next_cursor is None) == (not seen.has_more)
                assert seen.next_cursor != ""
                start = seen.next_cursor
        cursor, more = page.next_cursor, page.has_more
        if step == "page" and not more and not page.partial:
            break
    assert not page.partial
    final = desk.get_all()
    places = list_places(*final)
    assert sorted(places) == sorted(list_all(texts))
    assert len(set(places)) == len(places)


GONE = ModelUnreachable(endpoint="http://127.0.0.1:9", operation="review", cause="refused")
CRASHED = ModelProtocol(endpoint="http://127.0.0.1:9", operation="review", cause="it crashed")


def test_a_stored_run_can_be_continued_when_the_server_is_back():
    for failure in (GONE, CRASHED):
        assert describe_failure(failure, "review", "r1").hint == "kebab review --run-id r1"
    misplaced = replace(CRASHED, setting="OLLAMA_HOST")
    assert describe_failure(misplaced, "review", "r1").hint == misplaced.format_hint()
    assert describe_failure(GONE, "review", None).hint == (
        "go on without a server: `kebab review --no-llm DOCUMENT`"
    )
