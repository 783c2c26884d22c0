import os
import time

import pytest

from kebab.app.context import SystemClock
from kebab.core.documents import EMBEDDING_VERSION
from kebab.errors.catalog import ConfigInvalid, Locked, NotIndexed, ReadOnly
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.session_store import turn


def test_a_context_creates_nothing_by_being_built(desk):
    before = desk.tree()
    context = desk.context()
    _ = context.chunker_version
    context.close()

    assert desk.tree() == before


def test_paths_come_from_the_settings(desk):
    context = desk.context()

    assert (context.paths.data, context.database) == (desk.data, desk.data / "kebab.sqlite")
    assert context.config_path == desk.config


@pytest.mark.parametrize("flag", ["data_dir", "models_dir"])
def test_a_path_that_is_not_utf8_is_refused(desk, flag):
    with pytest.raises(ConfigInvalid, match="UTF-8") as caught:
        _ = desk.context(**{flag: str(desk.folder / "caf\udce9")}).paths

    assert caught.value.path == str(desk.folder / "caf\udce9")


def test_the_log_is_readable_with_invalid_names_of_other_folders(desk):
    context = desk.context(data_dir=str(desk.folder / "caf\udce9"))

    assert context.log == desk.context().paths.log


def test_writing_can_be_switched_off(desk):
    context = desk.context(read_only=True)

    shop_that_writes = desk.context()
    shop_that_writes.refuse_when_read_only("ingest")
    with pytest.raises(ReadOnly) as caught:
        context.refuse_when_read_only("model use")
    assert caught.value.operation == "model use"
    with pytest.raises(ReadOnly):
        context.open_writer("ingest")
    assert not desk.data.exists()


def test_read_only_disables_the_query_cache(desk):
    assert desk.context(read_only=True).cache is None
    assert desk.context().cache is not None


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


def test_a_reader_needs_a_database(desk):
    with pytest.raises(NotIndexed):
        desk.context().open_reader()


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


def test_the_version_of_stored_vectors_is_none_before_the_first(desk):
    with pytest.raises(NotIndexed):
        desk.context().get_stored_version()
    with desk.context().open_writer("test") as library:
        assert desk.context().get_stored_version() is None
        library.set_value(EMBEDDING_VERSION, "some-384-v1")

    assert desk.context().get_stored_version() == "some-384-v1"


def test_stores_are_built_once(desk):
    context = desk.context()

    assert context.embedders is context.embedders
    assert context.open_vector_table("a-384-v1") is context.open_vector_table("a-384-v1")
    assert context.open_vector_table("a-384-v1") is not context.open_vector_table("b-384-v1")
    assert context.cache is context.cache


def test_the_limit_of_a_passage_is_that_of_settings_and_model(desk):
    context = desk.context(index__chunk_tokens=100)
    narrow, wide = HashingEmbedder(window=50), HashingEmbedder(window=500)

    assert context.build_budget(None).limit == 100
    assert context.build_budget(narrow).limit == 50
    assert context.build_budget(wide).limit == 100


def test_the_limit_is_counted_by_the_model_when_there_is_one(desk):
    context = desk.context()
    text = "one two three"

    assert context.build_budget(HashingEmbedder()).count([text]) == HashingEmbedder().count_tokens(
        [text]
    )
    assert context.build_budget(None).count([text]) != [0]


def test_bytes_are_decoded_to_the_text_with_line_numbers(desk):
    assert desk.context().decode_text("가나\r\n다".encode("cp949"), "a.md") == "가나\n다"


def test_the_chunker_version_follows_the_settings(desk):
    narrow = desk.context(index__chunk_tokens=64)

    assert desk.context().chunker_version != narrow.chunker_version


def test_the_clock_is_that_of_the_machine():
    clock = SystemClock()

    assert abs(clock.now() - time.time()) < 5
    assert clock.monotonic() <= clock.monotonic()


def test_closing_twice_is_allowed(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    context = desk.context()
    assert context.cache is not None
    context.close()
    context.close()


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
