from typing import Any

import pytest

from kebab.app import translate as module
from kebab.app.translate import translate
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    InvalidInput,
    IoError,
    ModelUnreachable,
    StaleCursor,
    UnsupportedMedia,
)
from kebab.wire.record import NotFound
from kebab.wire.review import TranslateRequest
from tests.fakes.translator import FakeTranslator, to_hangul

TEXT = "---\ntitle: Doors\n---\n# Doors of it\n\nOpen the `door` now. Close it after that.\n"


@pytest.fixture
def model(monkeypatch):
    translator = FakeTranslator()
    monkeypatch.setattr(module, "build_language_model", lambda *_, **__: translator)
    return translator


def ask(context, name=None, events=None, cancel=None, **fields):
    fields = {"to": "ko", **fields} if name else fields
    request = TranslateRequest(name=str(name) if name else None, **fields)
    report = (events if events is not None else []).append
    return translate(context, request, report, cancel or Cancel())


def test_every_segment_is_an_item_and_the_text_comes_with_the_last_page(desk, model):
    page = ask(desk.context(), desk.write("a.md", TEXT), with_text=True)

    assert [item.cid for item in page.items] == ["seg-0001", "seg-0002", "seg-0003"]
    assert (page.tier, page.model, page.has_more) == ("draft", "gemma3:4b", False)
    assert page.chunk_id.endswith(f":{page.run_id}")
    text = page.translation.text
    assert text.startswith("---\ntitle: Doors\n---\n# ")
    assert "`door`" in text
    assert to_hangul("Close it after that.") in text
    assert (page.translation.segments, page.translation.translated) == (3, 3)


def test_pages_go_on_by_their_cursors_and_read_alike(desk, model):
    path = desk.write("a.md", TEXT)
    first = ask(desk.context(), path, limit=2)
    rest = ask(desk.context(), run_id=first.run_id, cursor=first.next_cursor, with_text=True)
    again = ask(desk.context(), run_id=first.run_id, with_text=True)

    assert (len(first.items), len(rest.items)) == (2, 1)
    assert rest.chunk_id.endswith(f":{first.run_id}:{first.next_cursor}")
    assert again.items == first.items
    assert rest.translation.translated == 3
    assert not again.translation
    assert len(model.told) == 1


def test_the_page_of_an_event_is_the_reply(desk, model):
    events = list[Any]()
    reply = ask(
        desk.context(), desk.write("a.md", TEXT), events, with_text=True, all_pages=True, limit=2
    )

    pages = [event.data for event in events if event.type == "items"]
    assert pages[-1] == reply
    order = [event.type for event in events if event.type in {"items", "progress"}]
    assert order[order.index("items") :] == ["items", "progress"] * len(pages)
    assert [bool(page.translation) for page in pages] == [False] * (len(pages) - 1) + [True]


def test_nothing_is_stored_when_writing_is_switched_off(desk, model):
    path = desk.write("a.md", TEXT)
    page = ask(desk.context(read_only=True), path, limit=1, with_text=True)

    assert (len(page.items), page.has_more) == (3, False)
    assert page.warnings == ["run_not_stored"]
    assert page.translation.translated == 3


def test_a_document_without_prose_asks_no_model(desk, model):
    page = ask(desk.context(), desk.write("a.md", "```\ncode\n```\n"), with_text=True)

    assert (page.items, model.told, page.partial) == ([], [], False)
    assert page.translation.text == "```\ncode\n```\n"


def test_a_missing_document_is_not_found(desk, model):
    assert isinstance(ask(desk.context(), "nowhere"), NotFound)
    assert isinstance(ask(desk.context(), run_id="nowhere"), NotFound)


@pytest.mark.parametrize(
    ("name", "fields", "field"),
    [
        (None, {}, "$.name"),
        ("a.md", {"to": None}, "$.to"),
        ("a.md", {"to": "to Korean"}, "$.to"),
        ("a.md", {"to": "en"}, "$.to"),
        ("a.md", {"cursor": "x"}, "$.cursor"),
        ("a.md", {"run_id": "x", "to": None}, "$.name"),
        (".", {}, "$.name"),
    ],
)
def test_requests_that_make_no_sense_are_refused(desk, model, monkeypatch, name, fields, field):
    desk.write("a.md", "These are the words of a text that is in English.\n")
    monkeypatch.chdir(desk.notes)
    with pytest.raises(InvalidInput) as caught:
        ask(desk.context(), name, **fields)
    assert caught.value.field == field


def test_another_format_is_refused(desk, model):
    with pytest.raises(UnsupportedMedia):
        ask(desk.context(), desk.write("a.rst", "Title\n=====\n\nText.\n"))
    with pytest.raises(UnsupportedMedia):
        ask(desk.context(), desk.write("a.py", "x = 1\n"))


def test_a_changed_document_ends_the_run(desk, model):
    path = desk.write("a.md", TEXT * 9)
    page = ask(desk.context(), path, limit=1)
    desk.write("a.md", "Other text that is new.\n")
    with pytest.raises(StaleCursor):
        ask(desk.context(), run_id=page.run_id, cursor=page.next_cursor)


def test_a_file_that_is_gone_is_an_error(desk, model):
    path = desk.write("a.md", TEXT)
    page = ask(desk.context(), path, limit=1)
    path.unlink()
    with pytest.raises(IoError):
        ask(desk.context(), run_id=page.run_id, cursor=page.next_cursor)


def test_a_missing_model_is_an_error(desk):
    with pytest.raises(ModelUnreachable):
        ask(desk.context(), desk.write("a.md", TEXT))
