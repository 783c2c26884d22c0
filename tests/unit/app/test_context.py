import pytest

from kebab.errors.catalog import ConfigInvalid, Locked
from tests.fakes.embedder import HashingEmbedder


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
