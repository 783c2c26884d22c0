from typing import Any

import pytest
from msgspec.structs import replace

from kebab.app.review import review
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    InvalidInput,
    ModelUnreachable,
    ReadOnly,
    StaleCursor,
    UnsupportedMedia,
)
from kebab.wire.record import NotFound
from kebab.wire.review import ReviewRequest

OLD = "It is valid until May 2001.\n"


def ask(context, *names, events=None, **fields):
    request = ReviewRequest(names=[str(name) for name in names], **{"no_llm": True, **fields})
    return review(context, request, (events if events is not None else []).append, Cancel())


def test_a_file_that_is_not_indexed_is_reviewed_without_an_index(desk):
    page = ask(desk.context(), desk.write("a.md", OLD))

    assert [(item.rule_id, item.o) for item in page.items] == [("stale-date", (18, 26))]
    assert (page.document.doc_id, page.document.file) == (None, str(desk.notes / "a.md"))
    assert (page.has_more, page.partial, page.model) == (False, False, None)
    assert {path.name for path in desk.data.iterdir()} <= {
        "reviews.sqlite",
        "reviews.sqlite-wal",
        "reviews.sqlite-shm",
    }


def test_an_indexed_document_has_its_id(lab):
    path = lab.write("deep/a.md", OLD)
    lab.ingest()
    page = ask(lab.context(), path)

    assert len(page.items) == 1
    assert (page.document.doc_path, len(page.document.doc_id)) == ("deep/a.md", 32)


def test_a_run_is_continued_by_its_id_and_the_cursor(desk):
    path = desk.write("a.md", OLD * 3)
    first = ask(desk.context(), path, limit=2)
    rest = ask(desk.context(), run_id=first.run_id, cursor=first.next_cursor)
    again = ask(desk.context(), run_id=first.run_id)

    assert (len(first.items), len(rest.items), rest.has_more) == (2, 1, False)
    assert again.items == first.items


def test_without_a_server_the_rules_run_and_the_page_tells_how_to_go_on(desk):
    page = ask(desk.context(), desk.write("a.md", OLD), no_llm=False)

    assert [item.rule_id for item in page.items] == ["stale-date"]
    assert (page.has_more, page.partial) == (False, True)
    assert [(one.channel, one.hint) for one in page.degraded] == [
        ("llm", f"kebab review --run-id {page.run_id}")
    ]


def test_a_model_that_is_required_must_answer_before_anything_is_reported(desk):
    events: list[Any] = []
    with pytest.raises(ModelUnreachable) as caught:
        ask(desk.context(), desk.write("a.md", OLD), events=events, no_llm=False, tier="deep")

    assert (events, caught.value.operation) == ([], "review")


def test_a_provider_without_a_server_means_rules_only(desk):
    context = desk.context(models__llm__provider="extractive")
    page = ask(context, desk.write("a.md", OLD), no_llm=False)

    assert (page.degraded, page.partial, page.model) == ([], False, None)


@pytest.mark.parametrize(
    ("fields", "field"), [({"model": "m"}, "$.model"), ({"tier": "deep"}, "$.tier")]
)
def test_a_model_that_is_asked_for_needs_a_server(desk, fields, field):
    context = desk.context(models__llm__provider="extractive")
    with pytest.raises(InvalidInput) as caught:
        ask(context, desk.write("a.md", OLD), no_llm=False, **fields)
    assert caught.value.field == field


def test_under_read_only_nothing_is_stored_and_all_items_are_on_one_page(desk):
    path = desk.write("a.md", OLD * 50)
    page = ask(desk.context(read_only=True), path, limit=1)

    assert (len(page.items), page.has_more, page.next_cursor) == (50, False, None)
    assert page.warnings == ["run_not_stored"]
    assert not desk.data.exists()


def test_under_read_only_several_documents_need_all_pages(desk):
    events: list[Any] = []
    for name in ("a.md", "b.md"):
        desk.write(name, OLD)
    context = desk.context(read_only=True)

    with pytest.raises(ReadOnly):
        ask(context, desk.notes)
    ask(context, desk.notes, all_pages=True, events=events)
    assert sum(event.type == "items" for event in events) == 2
    with pytest.raises(ReadOnly):
        ask(context, run_id="r1")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "$.names"),
        ({"names": ["a.md"], "cursor": "c"}, "$.cursor"),
        ({"names": ["a.md"], "run_id": "r"}, "$.names"),
        ({"run_id": "r", "rules": ["todo"]}, "$.rules"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(desk, fields, field):
    with pytest.raises(InvalidInput) as caught:
        review(desk.context(), ReviewRequest(**fields), print, Cancel())
    assert caught.value.field == field


def test_the_limit_of_a_run_stays(desk):
    page = ask(desk.context(), desk.write("a.md", OLD), limit=5)

    assert ask(desk.context(), run_id=page.run_id, limit=5).items == page.items
    with pytest.raises(InvalidInput, match="5 items"):
        ask(desk.context(), run_id=page.run_id, limit=6)


@pytest.mark.parametrize(
    ("fields", "field"), [({"tier": "deep"}, "$.tier"), ({"model": "other"}, "$.model")]
)
def test_the_tier_and_the_model_of_a_run_stay(desk, fields, field):
    page = ask(desk.context(), desk.write("a.md", OLD))

    with pytest.raises(InvalidInput) as caught:
        ask(desk.context(), run_id=page.run_id, **fields)
    assert caught.value.field == field


def test_an_unknown_run_or_document_is_not_found(desk):
    desk.write("backup.md", OLD)
    run = ask(desk.context(), run_id="r1")
    name = ask(desk.context(), desk.notes / "nowhere.md")

    assert isinstance(run, NotFound)
    assert isinstance(name, NotFound)


def test_a_file_that_changed_makes_its_run_stale(desk):
    path = desk.write("a.md", OLD * 3)
    page = ask(desk.context(), path, limit=1)
    path.write_text("the cat\n")

    for cursor in (None, page.next_cursor):
        with pytest.raises(StaleCursor):
            ask(desk.context(), run_id=page.run_id, cursor=cursor)


def test_a_file_that_is_not_text_is_unsupported(desk):
    path = desk.notes / "a.md"
    path.write_bytes(bytes(range(256)) * 40)

    with pytest.raises(UnsupportedMedia):
        ask(desk.context(), path)


def test_a_damaged_index_does_not_stop_a_review(desk):
    path = desk.write("a.md", OLD)
    desk.data.mkdir()
    desk.context().database.write_bytes(b"no database at all, but long enough to look" * 99)

    assert len(ask(desk.context(), path).items) == 1


def test_the_working_folder_may_change_between_two_pages(desk, monkeypatch):
    desk.write("a.md", OLD * 3)
    monkeypatch.chdir(desk.folder)
    first = ask(desk.context(), "notes", limit=1)
    assert first.document.doc_path == "notes/a.md"
    monkeypatch.chdir(desk.notes)
    rest = ask(desk.context(), run_id=first.run_id, cursor=first.next_cursor)

    assert rest.document.doc_path == "a.md"
    assert replace(rest.document, doc_path="") == replace(first.document, doc_path="")
