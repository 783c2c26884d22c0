"""A short form of `python -m tools.state_machine`, and some sequences that are always run."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tools.state_machine.machine import PATHS, TEXTS, KnowledgeBase


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


def test_random_operations_do_not_diverge_from_the_model():
    run_state_machine_as_test(
        KnowledgeBase,
        settings=settings(
            max_examples=2,
            stateful_step_count=25,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_documents_keep_their_ids_through_edits_moves_and_swaps(state):
    state.swap(path="work/a.md", other="work/b.md")
    state.move(path="work/A.md", other="work/sub/deep/d.txt")
    state.append(path="work/sub/a.md", number=1)
    state.link(path="work/e.txt", other="work/a.md")
    state.copy(path="work/a.md", other="home/a.md")
    state.ingest_changed(chosen=["work/A.md", "work/sub/deep/d.txt"])
    state.check()
    state.ingest_again()
    state.check()

    assert len(state.index.documents) == 4


def test_every_text_is_indexed_and_cut_again_by_other_settings(state):
    for number, path in enumerate(PATHS[: len(TEXTS)]):
        state.write(path=path, text=number)
    state.change_chunks(tokens=40)
    state.ingest_beside(folder="work")
    state.check()
