import pytest

from kebab.core.documents import EMBEDDING_VERSION, NEXT_VECTORS
from kebab.core.ids import sort_keys
from kebab.core.progress import Cancel, ProgressKind
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.ingest import reembed as change
from kebab.ingest import vectors
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.reembed import reembed
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import TornVectors

OLD = "hashing-words-384-v1"


@pytest.fixture
def full(desk):
    """A knowledge base of forty notes with vectors."""
    for number in range(40):
        desk.write(f"{number}.md", f"text of note number {number}")
    desk.ingest()
    return desk


def run(desk, model, cancel=None, reason=None):
    context = RunContext(desk.events.append, desk.clock, cancel or Cancel())
    return reembed(desk.library, desk.ports().vectors, LoadedModel(model, reason), context)


def search_again(desk):
    """Return the version and the number of vectors that a search would use now."""
    version = desk.library.get_value(EMBEDDING_VERSION)
    return version, len(desk.tables[version].list_keys())


class Watching(HashingEmbedder):
    """Calls something before each batch."""

    def __init__(self, watch, **options):
        super().__init__(version="another", batch=8, **options)
        self._watch = watch

    def embed_passages(self, texts):
        for batch in super().embed_passages(texts):
            self._watch()
            yield batch


def fail_after(batches):
    seen = iter(range(batches))

    def watch():
        if next(seen, None) is None:
            raise EmbeddingUnavailable(model="another", tried=[], cause="it broke")

    return watch


@pytest.fixture
def flush_at_once(monkeypatch):
    monkeypatch.setattr(vectors, "FLUSH_INTERVAL_S", 0.0)


def test_every_passage_gets_a_vector_of_the_new_model_and_no_file_is_read(desk):
    path = desk.write("a.md", "text")
    desk.ingest()
    path.unlink()

    outcome = run(desk, HashingEmbedder(version="another"))

    desk.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 1, 0)
    assert desk.tables[OLD].list_keys() == sort_keys([])
    assert desk.library.get_value(NEXT_VECTORS) is None
    assert desk.events[-1].kind is ProgressKind.COMPLETED


def test_searches_use_the_old_vectors_until_the_new_ones_are_complete(full, flush_at_once):
    seen = []
    model = Watching(lambda: seen.append(search_again(full)))

    run(full, model)

    assert seen == [(OLD, 40)] * 5
    assert search_again(full) == ("another", 40)


def test_interrupted_the_old_model_stays(full):
    cancel = Cancel()

    outcome = run(full, Watching(cancel.request), cancel)

    full.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == (OLD, 8, 32)
    assert search_again(full) == (OLD, 40)
    assert full.events[-1].kind is ProgressKind.ABORTED


def test_the_next_run_continues_an_interrupted_one(full):
    cancel = Cancel()
    run(full, Watching(cancel.request), cancel)
    model = HashingEmbedder(version="another")

    outcome = run(full, model)

    full.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 32, 0)
    assert len(model.embedded) == 32
    counts = [event for event in full.events if event.kind is ProgressKind.EMBED_BATCH]
    assert (counts[-1].done, counts[-1].total) == (40, 40)


def test_a_model_that_fails_leaves_the_old_one_and_what_was_collected(full, flush_at_once):
    with pytest.raises(EmbeddingUnavailable):
        run(full, Watching(fail_after(2)))

    full.check()
    assert search_again(full) == (OLD, 40)
    assert run(full, HashingEmbedder(version="another")).embedded == 24


def test_collected_vectors_that_cannot_be_read_are_computed_again(full):
    cancel = Cancel()
    run(full, Watching(cancel.request), cancel)
    full.tables["another"] = TornVectors()

    outcome = run(full, HashingEmbedder(version="another"))

    full.check()
    assert (outcome.version, outcome.embedded) == ("another", 40)


def test_the_old_vectors_are_deleted_when_the_disk_has_the_change(full, monkeypatch):
    versions = []
    library, old = full.library, full.tables[OLD]
    seen = []
    monkeypatch.setattr(
        library, "sync", lambda: versions.append(library.get_value(EMBEDDING_VERSION))
    )
    monkeypatch.setattr(old, "clear", lambda: seen.append(versions[-1]))

    run(full, HashingEmbedder(version="another"))

    assert versions[0] == OLD, "the mark of the begin"
    assert seen == ["another"]


def test_an_ingest_in_between_uses_the_old_model(full):
    cancel = Cancel()
    run(full, Watching(cancel.request), cancel)
    full.write("new.md", "a new text")

    report = full.ingest()

    full.check()
    assert (report.embedding.version, report.embedding.embedded) == (OLD, 1)


@pytest.mark.parametrize("wanted", [OLD, "third"])
def test_another_wish_deletes_what_was_collected(full, wanted):
    cancel = Cancel()
    run(full, Watching(cancel.request), cancel)
    assert len(full.tables["another"].list_keys()) == 8

    outcome = run(full, HashingEmbedder(version=wanted))

    full.check()
    assert outcome.version == wanted
    assert full.tables["another"].list_keys() == sort_keys([])
    assert full.library.get_value(NEXT_VECTORS) is None


def test_equal_texts_are_embedded_once(desk, monkeypatch):
    for number in range(6):
        desk.write(f"{number}/same.md", "the same text")
    desk.ingest()
    monkeypatch.setattr(change, "BATCH_CHUNKS", 2)
    model = HashingEmbedder(version="another")

    outcome = run(desk, model)

    desk.check()
    assert len(model.embedded) == 1
    assert (outcome.embedded, outcome.reused) == (1, 5)


def test_passages_that_the_new_model_does_not_know_have_no_vector(full):
    model = HashingEmbedder(version="another", supports=lambda text: "number 7" not in text)

    outcome = run(full, model)

    assert (outcome.embedded, outcome.unsupported, outcome.pending) == (39, 1, 0)
    assert len(full.tables["another"].list_keys()) == 39
    assert len(full.library.list_committed_keys()) == 39
    assert full.library.count_pending() == 0


def test_old_vectors_that_a_killed_run_left_are_deleted_by_the_next_ingest(full, monkeypatch):
    monkeypatch.setattr(change, "delete_other_vectors", lambda *_: None)
    run(full, HashingEmbedder(version="another"))
    assert len(full.tables[OLD].list_keys()) == 40

    full.embedder = HashingEmbedder(version="another")
    full.ingest()

    assert full.tables[OLD].list_keys() == sort_keys([])


def test_the_first_model_of_a_knowledge_base_needs_no_change(desk):
    model, desk.embedder = desk.embedder, None
    desk.write("a.md", "text")
    desk.ingest()

    outcome = run(desk, model)

    assert (outcome.version, outcome.embedded, outcome.pending) == (model.version, 1, 0)


def test_a_cancel_with_the_last_passage_finishes_the_change(desk):
    desk.write("a.md", "text")
    desk.ingest()
    cancel = Cancel()

    outcome = run(desk, Watching(cancel.request), cancel)

    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 1, 0)
