"""A knowledge base that differs from its model is noticed, whatever differs."""

import pytest

from kebab.store.sqlite.writer import SqliteWriter
from tools.state_machine.machine import KnowledgeBase
from tools.state_machine.model import Scope


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    before = KnowledgeBase.models
    KnowledgeBase.models = tmp_path_factory.mktemp("models") / "tiny"
    yield
    KnowledgeBase.models = before


@pytest.fixture
def state():
    made = KnowledgeBase()
    made.begin(first=[2, 3, 4, 6], folder="work")
    made.check()
    yield made
    made.teardown()


@pytest.mark.parametrize(
    ("lost", "change"), [("remove_documents", "delete"), ("update_stamp", "touch")]
)
def test_a_change_that_is_not_stored_is_a_divergence(state, lost, change, monkeypatch):
    monkeypatch.setattr(SqliteWriter, lost, lambda *_: 0)
    getattr(state, change)(path="work/a.md")

    with pytest.raises(AssertionError):
        _ingest_and_check(state)


def _ingest_and_check(state):
    state.ingest(folder="work", force=False)
    state.check()


@pytest.mark.parametrize(
    "falsify",
    [
        pytest.param(lambda state: state.turns.update(first=1), id="session"),
        pytest.param(lambda state: state.runs.update(x=[]), id="review"),
        pytest.param(lambda state: state.index.sources.add("home"), id="source"),
        pytest.param(lambda state: state.index.documents.popitem(), id="document"),
        pytest.param(
            lambda state: setattr(state.index.documents[min(state.index.documents)], "text", "x1"),
            id="text",
        ),
    ],
)
def test_what_the_model_does_not_have_is_a_divergence(state, falsify):
    falsify(state)
    state.note_change(moves=None)

    with pytest.raises(AssertionError):
        state.check()


def test_a_file_that_coverage_does_not_name_is_a_divergence(state):
    state.files.texts["work/new.md"] = "unseen1"

    with pytest.raises(AssertionError):
        state.check()


def test_a_source_without_a_file_is_suddenly_empty(state):
    whole, part = Scope("work", "work"), Scope("work", "work/sub")
    for path in [*state.files.texts]:
        state.files.delete(path)
    (state.system.notes / "work" / "sub").rmdir()

    assert (state.is_suddenly_empty(whole), state.is_suddenly_empty(part)) == (True, False)
