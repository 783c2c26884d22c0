"""Searches and edits go on until the load stops, and every fault is reported."""

import threading

import pytest

from tools.surfaces.edits import EditedNotes
from tools.surfaces.load_calls import Call
from tools.surfaces.mixed_load import (
    ChangingMcpClient,
    Load,
    call_repeatedly,
    edit_repeatedly,
    run_threads,
)


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.surfaces.mixed_load.VISIBLE_S", 0.0)
    return Load(EditedNotes(tmp_path / "notes" / "edited", tmp_path / "notes", 3, 1))


def find_in(notes, query):
    """Find the note with a word, as a current index does."""
    found = [edit.path for edit in notes.list_settled(0) if edit.word == query]
    return {"hits": [{"doc_path": path} for path in found]}


def call_until(load, count, ask, monkeypatch):
    """Run searches until there were some, and return the minute."""
    left = threading.Semaphore(count)

    def run(ask, _chance, edit, _surface):
        if not left.acquire(blocking=False):
            load.stopped.set()
        paths = [hit["doc_path"] for hit in ask("search", {"query": edit.word})["hits"]]
        if paths != [edit.path]:
            yield f"found {paths}"

    monkeypatch.setattr(
        "tools.surfaces.mixed_load.choose_call", lambda *_, **__: Call("search", 1, run)
    )
    call_repeatedly(load, "http", ask, 0.0, 1)
    return load.take_minute()


def test_right_answers_are_no_faults(load, monkeypatch):
    load.notes.edit()
    minute = call_until(
        load, 20, lambda _, fields: find_in(load.notes, fields["query"]), monkeypatch
    )

    assert (minute.faults, len(minute.latencies["http"]), minute.calls) == ([], 21, {"http": 21})


def test_a_wrong_answer_is_a_fault(load, monkeypatch):
    minute = call_until(load, 3, lambda *_: {"hits": []}, monkeypatch)

    assert minute.faults[0] == "http: search: found []"


def test_a_failed_call_is_a_fault(load, monkeypatch):
    def fail(*_):
        raise RuntimeError("gone")

    assert "RuntimeError: gone" in call_until(load, 3, fail, monkeypatch).faults[0]


def test_an_edit_is_visible_or_a_fault(load):
    works = [
        lambda: edit_repeatedly(load, lambda _, fields: find_in(load.notes, fields["query"]), 0.01)
    ]
    with run_threads(load, works):
        while not load._minute.visible:
            load.stopped.wait(0.01)

    assert load.take_minute().visible


def test_an_edit_that_stays_invisible_is_a_fault(load):
    with run_threads(load, [lambda: edit_repeatedly(load, lambda *_: {"hits": []}, 0.01)]):
        while not load._minute.faults:
            load.stopped.wait(0.01)

    assert "is not visible" in load.take_minute().faults[0]


def test_a_row_has_latencies_freshness_faults_and_memory(load):
    load.add_call("http", "search", 0.010)
    load.add_call("http", "search", 0.030)
    load.add_call("http", "grep", 9.0)
    load.add_visible(1.25)
    load.add_faults("http", "odd")
    minute = load.take_minute()
    minute.resources = {"http MB": 120.4, "http files": 7.0}

    row = minute.format_row(7)

    assert " ".join(row.split()) == "7 http 2 x 20/ 30 visible 1.2/1.2 s faults 1 MB: http 120"
    assert load.take_minute().latencies == {}


def test_a_client_of_tools_leaves_after_some_calls_and_another_comes(monkeypatch, tmp_path):
    clients = []

    class Client:
        def __init__(self, *_):
            self.killed = self.ended = 0
            self.process = self
            clients.append(self)

        def kill(self):
            self.killed += 1

        def __exit__(self, *_):
            self.ended += 1

    monkeypatch.setattr("tools.surfaces.mixed_load.McpClient", Client)
    monkeypatch.setattr("tools.surfaces.mixed_load.ask_tool", lambda *_: {})
    monkeypatch.setattr("tools.surfaces.mixed_load._CALLS_OF_A_CLIENT", 2)
    client = ChangingMcpClient({}, tmp_path)
    for _ in range(5):
        client.ask("search", {})
    client.leave()

    assert [(one.killed, one.ended) for one in clients] == [(0, 1), (1, 1), (0, 1)]
