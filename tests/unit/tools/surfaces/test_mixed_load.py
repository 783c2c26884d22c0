"""Searches and edits go on until the load stops, and every fault is reported."""

import threading
from typing import Any

import pytest

from tools.surfaces.edits import EditedNotes
from tools.surfaces.mixed_load import (
    Load,
    edit_repeatedly,
    run_threads,
    search_repeatedly,
    search_with_mcp,
)


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.surfaces.mixed_load.VISIBLE_S", 0.0)
    return Load(EditedNotes(tmp_path / "notes" / "edited", tmp_path / "notes", 3, 1))


def find_in(notes, query):
    """Find the note with a word, as a current index does."""
    found = [edit.path for edit in notes.list_settled(0) if edit.word == query]
    return {
        "hits": [{"doc_path": path} for path in found],
        "absent_terms": [] if found else [query],
    }


def search_until(load, count, search):
    """Run searches until there were some, and return the minute."""
    left = threading.Semaphore(count)

    def counted(query):
        if not left.acquire(blocking=False):
            load.stopped.set()
        return search(query)

    search_repeatedly(load, "http", counted, 0.0, 1)
    return load.take_minute()


def test_right_answers_are_no_faults(load):
    load.notes.edit()
    minute = search_until(load, 60, lambda query: find_in(load.notes, query))

    assert (minute.faults, len(minute.latencies["http"])) == ([], 61)


def test_a_missing_edit_is_a_fault(load):
    minute = search_until(load, 60, lambda _: {"hits": [], "absent_terms": []})

    assert minute.faults
    assert minute.faults[0].startswith("http: edited/note-")


def test_a_failed_call_is_a_fault(load):
    def fail(_):
        raise RuntimeError("gone")

    assert "RuntimeError: gone" in search_until(load, 3, fail).faults[0]


def test_an_edit_is_visible_or_a_fault(load):
    works = [lambda: edit_repeatedly(load, lambda query: find_in(load.notes, query), 0.01)]
    with run_threads(load, works):
        while not load._minute.visible:
            load.stopped.wait(0.01)

    assert load.take_minute().visible


def test_an_edit_that_stays_invisible_is_a_fault(load):
    with run_threads(
        load, [lambda: edit_repeatedly(load, lambda _: {"hits": [], "absent_terms": []}, 0.01)]
    ):
        while not load._minute.faults:
            load.stopped.wait(0.01)

    assert "is not visible" in load.take_minute().faults[0]


def test_a_row_has_latencies_freshness_faults_and_memory(load):
    load.add_call("http", 0.010)
    load.add_call("http", 0.030)
    load.add_visible(1.25)
    load.add_faults("http", "odd")
    minute = load.take_minute()
    minute.memory = {"http": 120.4}

    row = minute.format_row(7)

    assert " ".join(row.split()) == "7 http 2 x 20/ 30 visible 1.2/1.2 s faults 1 MB: http 120"
    assert load.take_minute().latencies == {}


def test_the_paths_of_the_tool_are_those_of_other_surfaces():
    class Client:
        def call(self, tool, arguments):
            assert (tool, arguments["queries"]) == ("search", "x")
            hits = [{"ref": "a/b.md#L2-L3"}]
            reply = {"schema_version": "tool search", "hits": hits}
            return type("Result", (), {"failed": False, "reply": reply})

    client: Any = Client()
    assert search_with_mcp(client, "x") == {"hits": [{"doc_path": "a/b.md"}]}
