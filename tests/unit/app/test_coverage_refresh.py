import pytest

from kebab.app.ask import ask
from kebab.app.bases import search_all as search
from kebab.store.sqlite.lock import WriterLock
from kebab.wire.ask import AskRequest
from kebab.wire.search import SearchRequest


@pytest.fixture
def notes(desk):
    """Two notes, of which the first changed after it was indexed."""
    desk.write("a.md", "# Bread\n\nThe dough rests for one hour.\n")
    desk.write("b.md", "# Dough\n\nThe dough of pizza rests for a day.\n")
    desk.ingest()
    desk.write("a.md", "# Bread\n\nThe dough rests for twelve hours overnight.\n")
    return desk


def find(desk, *, context=None, **fields):
    request = SearchRequest(query="dough rests", mode="lexical", refresh=True, **fields)
    return search(context or desk.context(), request)


def test_a_changed_document_is_indexed_before_the_answer(notes):
    reply = find(notes)

    assert "twelve" in next(hit.snippet for hit in reply.hits if hit.doc_path == "a.md")
    assert {hit.freshness for hit in reply.hits} == {"fresh"}
    refresh = reply.refresh
    assert (refresh.folder, refresh.refreshed, refresh.updated) == ("", True, 1)
    assert (refresh.checked, refresh.reason) == (2, None)


def test_without_a_change_nothing_is_written(notes):
    find(notes)
    with WriterLock(notes.data):  # a writer would be refused
        reply = find(notes)

    assert (reply.refresh.refreshed, reply.refresh.updated, reply.refresh.checked) == (True, 0, 2)


def test_another_writer_is_named_and_the_index_answers(notes):
    with WriterLock(notes.data):
        reply = find(notes)

    assert len(reply.hits) == 2
    assert reply.refresh.refreshed is False
    assert "writing" in reply.refresh.reason or "lock" in reply.refresh.reason


def test_read_only_the_index_answers(notes):
    reply = find(notes, context=notes.context(read_only=True))

    assert (reply.refresh.refreshed, reply.refresh.reason) == (False, "`--read-only`")
    assert len(reply.hits) == 2


def test_the_pages_of_a_search_stay_as_they_are(notes):
    request = SearchRequest(query="dough rests", mode="lexical", limit=1)
    first = search(notes.context(), request)

    reply = find(notes, limit=1, cursor=first.next_cursor)
    other = find(notes, limit=1)

    assert reply.hits[0].rank == 2
    states = {reply.hits[0].freshness: reply.refresh.refreshed}
    assert states in ({"changed": False}, {"fresh": True})
    assert other.refresh.refreshed


def test_a_question_is_answered_from_the_files_as_they_are(notes):
    question = "how long does the dough of bread rest?"
    request = AskRequest(question=question, extractive=True, mode="lexical", refresh=True)

    answer = ask(notes.context(), request, lambda _: None)

    refresh = answer.retrieval.refresh
    assert refresh is not None
    assert refresh.updated == 1
    assert "twelve" in answer.answer
