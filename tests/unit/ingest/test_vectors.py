import numpy as np
import pytest

from kebab.core.documents import EMBEDDING_VERSION, VECTORS_DIRTY
from kebab.core.ids import sort_keys
from kebab.core.progress import Cancel
from kebab.errors.catalog import EmbeddingMismatch
from kebab.ingest.job import RunContext
from kebab.ingest.vectors import VectorSync
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors, TornVectors


@pytest.fixture
def sync(desk):
    return VectorSync(desk.library, desk.ports().vectors, make_context(desk))


def make_context(desk):
    return RunContext(desk.events.append, desk.clock, Cancel())


def test_the_first_model_is_adopted(desk, sync):
    sync.set_model(desk.embedder)

    assert desk.library.get_value(EMBEDDING_VERSION) == desk.embedder.version


def test_another_model_is_refused(desk, sync):
    sync.set_model(desk.embedder)

    with pytest.raises(EmbeddingMismatch):
        sync.set_model(HashingEmbedder(version="another"))


def test_the_index_stays_closed_without_a_reason(desk):
    desk.write("a.md", "text")
    desk.ingest()
    opened = desk.tables_opened
    sync = VectorSync(desk.library, desk.ports().vectors, make_context(desk))

    sync.update(None)
    sync.copy_equal_vectors()

    assert desk.tables_opened == opened


def test_an_interrupted_run_is_repaired_even_without_a_model(desk):
    desk.write("a.md", "text")
    desk.ingest()
    table = desk.tables[desk.embedder.version]
    (key,) = table.list_keys()
    table.delete([key])
    desk.library.set_value(VECTORS_DIRTY, "1")

    VectorSync(desk.library, desk.ports().vectors, make_context(desk)).update(None)

    assert desk.library.count_pending() == 1
    assert desk.library.get_value(VECTORS_DIRTY) is None


def test_rows_are_compared_only_after_an_interrupted_run(desk, monkeypatch):
    desk.write("a.md", "text")
    desk.ingest()
    table, listed = desk.tables[desk.embedder.version], []
    real = table.list_keys

    def watch(**how):
        listed.append(how)
        return real(**how)

    monkeypatch.setattr(table, "list_keys", watch)
    monkeypatch.setattr(desk, "check", lambda: None)

    desk.write("a.md", "more")
    assert desk.ingest().embedding.embedded == 1
    assert listed == []

    desk.library.set_value(VECTORS_DIRTY, "1")
    desk.ingest()
    assert listed == [{"verify": False}]


def test_vectors_of_deleted_chunks_are_deleted_without_a_model(desk):
    desk.write("a.md", "text")
    desk.ingest()
    desk.library.remove_documents(list(desk.ids().values()))

    VectorSync(desk.library, desk.ports().vectors, make_context(desk)).update(None)

    assert desk.tables[desk.embedder.version].list_keys() == sort_keys([])
    assert desk.library.list_deleted_keys() == []


def test_the_mark_of_unfinished_work_is_set_before_the_first_row(desk):
    desk.write("a.md", "text")
    seen = []

    class Watching(MemoryVectors):
        def append(self, rows):
            seen.append(desk.library.get_value(VECTORS_DIRTY))
            super().append(rows)

    desk.tables[desk.embedder.version] = Watching()

    desk.ingest()

    assert seen == ["1"]
    assert desk.library.get_value(VECTORS_DIRTY) is None


def test_verify_all_before_the_first_model_does_nothing(desk, sync):
    sync.verify_all()

    assert desk.library.get_value(VECTORS_DIRTY) is None


@pytest.mark.parametrize("force", [False, True])
def test_lost_vectors_come_back_with_the_next_run(desk, force):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.version].list_keys()
    desk.tables[desk.embedder.version].clear()

    outcome = desk.ingest(force=force)

    assert desk.tables[desk.embedder.version].list_keys() == kept
    assert (outcome.embedding.lost, outcome.embedding.embedded, outcome.embedding.reused) == (
        1,
        1,
        0,
    )
    said = [event.message for event in desk.events if event.message]
    assert said == ["lost or damaged, computed again: 1 vector"]


def test_a_damaged_vector_is_computed_again(desk):
    desk.write("a.md", "text")
    desk.write("b.md", "more")
    desk.ingest()
    table = desk.tables[desk.embedder.version]
    table.rows[0].vector[:] = np.nan

    outcome = desk.ingest()

    assert (outcome.embedding.lost, outcome.embedding.embedded) == (1, 1)
    assert table.find_damaged_keys() == set()


def test_lost_vectors_are_pending_without_a_model_and_are_reported_once(desk):
    desk.write("a.md", "text")
    desk.ingest()
    desk.tables[desk.embedder.version].clear()
    model, desk.embedder = desk.embedder, None

    lost = [desk.ingest().embedding.lost for _ in range(2)]
    desk.embedder = model
    outcome = desk.ingest()

    assert lost == [1, 0]
    assert (outcome.embedding.embedded, outcome.embedding.pending) == (1, 0)


def test_an_index_with_unchanged_files_is_not_read(desk):
    desk.write("a.md", "text")
    desk.ingest()

    class Unread(MemoryVectors):
        def list_keys(self, *, verify=False):
            raise AssertionError("read")

    unread = Unread()
    unread.rows = desk.tables[desk.embedder.version].rows
    sync = VectorSync(desk.library, lambda _: unread, make_context(desk))

    sync.check_files()
    sync.update(None)

    assert desk.library.get_value(VECTORS_DIRTY) is None


@pytest.mark.parametrize("force", [False, True])
def test_an_unreadable_index_is_built_again(desk, force):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.version].list_keys()
    desk.tables[desk.embedder.version] = TornVectors()
    desk.write("b.md", "more")

    outcome = desk.ingest(force=force)

    assert set(desk.tables[desk.embedder.version].list_keys()) > set(kept)
    assert outcome.embedding.pending == 0


def test_the_index_gets_ready_before_files_are_read_and_only_for_work(desk):
    desk.write("a.md", "text")
    desk.ingest()
    (table,) = desk.tables.values()
    assert table.expected

    table.expected = False
    desk.ingest()

    assert not table.expected
