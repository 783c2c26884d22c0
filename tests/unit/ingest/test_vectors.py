import pytest

from kebab.core.documents import EMBEDDING_VERSION, VECTORS_DIRTY
from kebab.core.ids import sort_keys
from kebab.core.progress import Cancel
from kebab.errors.catalog import EmbeddingMismatch, StoreCorrupt
from kebab.ingest.job import RunContext
from kebab.ingest.vectors import VectorSync
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors


@pytest.fixture
def sync(desk):
    return VectorSync(desk.library, desk.ports().vectors, make_context(desk))


def make_context(desk):
    return RunContext(desk.events.append, desk.clock, Cancel())


def test_the_first_model_is_adopted(desk, sync):
    sync.set_model(desk.embedder, rebuild=False)

    assert desk.library.get_value(EMBEDDING_VERSION) == desk.embedder.version


def test_another_model_is_refused(desk, sync):
    sync.set_model(desk.embedder, rebuild=False)

    with pytest.raises(EmbeddingMismatch):
        sync.set_model(HashingEmbedder(version="another"), rebuild=False)


def test_a_rebuild_makes_all_chunks_pending_and_clears_the_old_index(desk):
    desk.write("a.md", "text")
    desk.ingest()
    sync = VectorSync(desk.library, desk.ports().vectors, make_context(desk))

    sync.set_model(HashingEmbedder(version="another"), rebuild=True)

    assert sync.version == "another"
    assert sync.build_summary().pending == 1
    assert desk.tables[desk.embedder.version].list_keys() == sort_keys([])


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


def test_lost_vectors_come_back_when_a_run_is_forced(desk):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.version].list_keys()
    desk.tables[desk.embedder.version].clear()

    desk.ingest(force=True)

    assert desk.tables[desk.embedder.version].list_keys() == kept


class Torn(MemoryVectors):
    """An index that cannot be read until it was cleared."""

    torn = True

    def list_keys(self, *, verify=False):
        if self.torn:
            raise StoreCorrupt(path="/x", cause="torn")
        return super().list_keys(verify=verify)

    def clear(self):
        self.torn = False
        super().clear()


def test_an_unreadable_index_is_rebuilt_only_in_a_forced_run(desk):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.version].list_keys()
    desk.tables[desk.embedder.version] = Torn()
    desk.write("b.md", "more")

    with pytest.raises(StoreCorrupt):
        desk.ingest()
    outcome = desk.ingest(force=True)

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
