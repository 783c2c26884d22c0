import os

import pytest

from kebab.errors.catalog import ConfigInvalid, Locked, ReadOnly
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.session_store import turn


def test_a_context_creates_nothing_by_being_built(desk):
    before = desk.tree()
    context = desk.context()
    _ = context.chunker_version
    context.close()

    assert desk.tree() == before


def test_turns_are_stored_up_to_the_limit_of_the_settings(desk):
    desk.ingest()
    kept = desk.context(ask__history_turns=2).session_store

    assert [kept.add_turn(turn()) for _ in range(4)] == [0, 1, 2, 3]
    assert len(kept.list_turns("talk")) == 2


def test_read_only_stores_no_turn(desk):
    desk.ingest()

    with pytest.raises(ReadOnly):
        desk.context(read_only=True).session_store.add_turn(turn())
    assert desk.context().session_store.list_turns("talk") == []


def test_one_writer_and_many_readers_run_at_once(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    context = desk.context()
    with context.open_writer("test"):
        with pytest.raises(Locked):
            desk.context().open_writer("test")
        with pytest.raises(Locked):
            context.acquire_writer_lock()
        with context.open_reader() as reader:
            assert context.build_catalogue(reader).count_contents().documents == 1
    with context.acquire_writer_lock(), pytest.raises(Locked):
        context.open_writer("test")


def test_the_limit_is_counted_by_the_model_when_there_is_one(desk):
    context = desk.context()
    text = "one two three"

    assert context.build_budget(HashingEmbedder()).count([text]) == HashingEmbedder().count_tokens(
        [text]
    )
    assert context.build_budget(None).count([text]) != [0]


def test_a_model_that_does_not_exist_is_refused_before_any_work(desk):
    with pytest.raises(ConfigInvalid):
        desk.context(models__embedding__model="word2vec")


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("3", "3")])
def test_blas_uses_one_thread_unless_the_user_sets_another_number(
    desk, monkeypatch, given, threads
):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if given:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)

    desk.context()

    assert os.environ["OPENBLAS_NUM_THREADS"] == threads
