import pytest

from kebab.core.chunks import sort_keys
from kebab.core.documents import EMBEDDING_VERSION
from kebab.core.progress import Cancel, ProgressKind
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.ingest import vectors
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.vectors import reembed
from tests.fakes.embedder import HashingEmbedder

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


def test_every_passage_gets_a_vector_of_the_new_model_and_no_file_is_read(desk):
    path = desk.write("a.md", "text")
    desk.ingest()
    path.unlink()

    outcome = run(desk, HashingEmbedder(version="another"))

    desk.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 1, 0)
    assert desk.tables[OLD].list_keys() == sort_keys([])
    assert desk.events[-1].kind is ProgressKind.COMPLETED


def test_the_next_ingest_embeds_what_an_interrupted_change_leaves(full):
    cancel = Cancel()

    outcome = run(full, Watching(cancel.request), cancel)

    full.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 8, 32)
    assert full.events[-1].kind is ProgressKind.ABORTED
    full.embedder = HashingEmbedder(version="another")
    assert full.again().embedding.embedded == 32


def test_a_model_that_fails_keeps_what_it_has_embedded(full, monkeypatch):
    monkeypatch.setattr(vectors, "FLUSH_INTERVAL_S", 0.0)

    with pytest.raises(EmbeddingUnavailable):
        run(full, Watching(fail_after(2)))

    full.check()
    assert run(full, HashingEmbedder(version="another")).embedded < 40


def test_the_old_vectors_are_deleted_when_the_disk_has_the_change(full, monkeypatch):
    seen = []
    monkeypatch.setattr(
        full.library,
        "checkpoint",
        lambda: seen.append(
            (full.library.get_value(EMBEDDING_VERSION), len(full.tables[OLD].list_keys()))
        ),
    )

    run(full, HashingEmbedder(version="another"))

    assert seen[0] == ("another", 40)
    assert full.tables[OLD].list_keys() == sort_keys([])
