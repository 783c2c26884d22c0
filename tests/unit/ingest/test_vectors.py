import pytest

from kebab.core.chunks import sort_keys
from kebab.core.progress import Cancel
from kebab.errors.catalog import TimedOut
from kebab.ingest import vectors as embedding
from kebab.ingest.job import RunContext
from kebab.ingest.vectors import FLUSH_INTERVAL_S, ChunkEmbedder, VectorSync, embed_texts, reconcile
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors, TornVectors


@pytest.fixture
def sync(desk):
    return VectorSync(desk.library, desk.ports().vectors, make_context(desk))


def make_context(desk):
    return RunContext(desk.events.append, desk.clock, Cancel())


def test_a_run_that_changed_nothing_compares_once(desk, monkeypatch):
    desk.write("a.md", "text")
    desk.ingest()
    table = desk.tables[desk.embedder.profile.version]
    listed: list[dict[str, bool]] = []

    def list_keys(**how):
        listed.append(how)
        return sort_keys([1])

    monkeypatch.setattr(table, "list_keys", list_keys)
    sync = VectorSync(desk.library, desk.ports().vectors, make_context(desk))

    sync.reconcile()
    sync.update(None)

    assert listed == [{"verify": False}]


def test_vectors_wait_longer_where_a_flush_takes_long(waiting):
    waiting.clock.monotonic = lambda: waiting.clock.ahead

    class Heavy(MemoryVectors):
        def save(self):
            waiting.clock.ahead += FLUSH_INTERVAL_S

    class Slow(HashingEmbedder):
        def embed_passages(self, texts):
            for batch in super().embed_passages(texts):
                waiting.clock.ahead += FLUSH_INTERVAL_S
                yield batch

    table = Heavy()
    make_chunk_embedder(waiting, table).embed_pending(Slow(batch=1))

    assert table.commits == 2


@pytest.mark.parametrize("force", [False, True])
def test_lost_vectors_come_back_with_the_next_run(desk, force):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.profile.version].list_keys()
    desk.tables[desk.embedder.profile.version].rebuild()

    outcome = desk.ingest(force=force)

    assert desk.tables[desk.embedder.profile.version].list_keys() == kept
    assert (outcome.embedding.lost, outcome.embedding.embedded, outcome.embedding.reused) == (
        1,
        1,
        0,
    )
    said = [event.message for event in desk.events if event.message]
    assert said == ["lost or damaged, computed again: 1 vector"]


def test_lost_vectors_are_pending_without_a_model_and_are_reported_once(desk):
    desk.write("a.md", "text")
    desk.ingest()
    desk.tables[desk.embedder.profile.version].rebuild()
    model, desk.embedder = desk.embedder, None

    lost = [desk.ingest().embedding.lost for _ in range(2)]
    desk.embedder = model
    outcome = desk.ingest()

    assert lost == [1, 0]
    assert (outcome.embedding.embedded, outcome.embedding.pending) == (1, 0)


@pytest.mark.parametrize("force", [False, True])
def test_an_unreadable_index_is_built_again(desk, force):
    desk.write("a.md", "text")
    desk.ingest()
    kept = desk.tables[desk.embedder.profile.version].list_keys()
    desk.tables[desk.embedder.profile.version] = TornVectors()
    desk.write("b.md", "more")

    outcome = desk.ingest(force=force)

    assert set(desk.tables[desk.embedder.profile.version].list_keys()) > set(kept)
    assert outcome.embedding.pending == 0


@pytest.fixture
def waiting(desk):
    """Return a desk with five chunks that wait for a vector, two of them alike."""
    model, desk.embedder = desk.embedder, None
    for number in range(4):
        desk.write(f"{number}.md", f"# {number}\n\ntext {number}")
    desk.write("twin.md", "# 0\n\ntext 0")
    desk.ingest()
    desk.embedder = model
    return desk


def make_chunk_embedder(desk, table, cancel=None):
    context = RunContext(desk.events.append, desk.clock, cancel or Cancel())
    return ChunkEmbedder(desk.library, table, "v", context)


def test_every_pending_chunk_gets_its_vector_and_equal_texts_are_embedded_once(waiting):
    table = MemoryVectors()
    work = make_chunk_embedder(waiting, table)

    work.embed_pending(waiting.embedder)

    assert sorted(table.list_keys()) == sorted(waiting.library.list_committed_keys())
    assert len(table.list_keys()) == 5
    assert len(waiting.embedder.embedded) == 4
    assert sum(work.counts.embedded.values()) == 4
    assert sum(work.counts.copied.values()) == 1


def test_a_vector_is_that_of_title_headings_and_text(waiting):
    table = MemoryVectors()

    make_chunk_embedder(waiting, table).embed_pending(waiting.embedder)

    (chunk,) = (one for one in waiting.library.load_chunks(table.list_keys()) if one.path == "3.md")
    expected = waiting.embedder.embed_query("3\n# 3\n\ntext 3")
    assert table.compute_cosines(expected, [chunk.key])[chunk.key] == pytest.approx(1.0)


def test_rows_are_durable_before_the_library_vouches_for_them(waiting):
    class Dying(MemoryVectors):
        def append(self, rows):
            super().append(rows)
            raise KeyboardInterrupt

    table = Dying()

    with pytest.raises(KeyboardInterrupt):
        make_chunk_embedder(waiting, table).embed_pending(waiting.embedder)

    assert table.list_keys()
    assert waiting.library.list_committed_keys() == sort_keys([])


def test_the_documents_of_the_last_search_are_embedded_first(waiting):
    *_, last = waiting.library.list_pending(99)
    context = RunContext(waiting.events.append, waiting.clock, Cancel(), lambda: [last.chunk_id])
    vectors = MemoryVectors()

    work = ChunkEmbedder(waiting.library, vectors, "v", context)
    work.embed_pending(waiting.embedder)

    assert next(iter(work.counts.embedded)) == last.doc_id


class SlowEmbedder(HashingEmbedder):
    """Takes too long for more than `most` texts at once, and for the texts in `endless`."""

    def __init__(self, most=100, endless=(), allowed=0):
        super().__init__(batch=4)
        self.most = most
        self.endless = endless
        self.allowed = allowed
        self.tried = []

    def embed_passages(self, texts):
        self.tried.append(len(texts))
        too_many = len(texts) > self.most
        for number, (indexes, matrix) in enumerate(super().embed_passages(texts)):
            late = any(word in texts[index] for index in indexes for word in self.endless)
            if late or (too_many and number >= self.allowed):
                raise TimedOut(operation="embedding a batch", elapsed_ms=2, deadline_ms=1)
            yield indexes, matrix


def list_embedded(embedder, texts, handle_late):
    return [
        index
        for indexes, _ in embed_texts(embedder.embed_passages, texts, handle_late)
        for index in indexes
    ]


def test_a_batch_that_is_too_slow_is_tried_again_in_smaller_ones():
    embedder = SlowEmbedder(most=2)

    found = list_embedded(embedder, [f"text {number}" for number in range(20)], None)

    assert sorted(found) == list(range(20))
    assert embedder.tried[:3] == [20, 5, 1]


def test_a_chunk_that_takes_too_long_stays_pending_and_the_others_get_vectors(waiting):
    table = MemoryVectors()
    work = make_chunk_embedder(waiting, table)

    work.embed_pending(SlowEmbedder(endless=("text 3",)))

    assert len(table.list_keys()) == 4
    assert waiting.library.count_pending() == 1
    assert work.fault.operation == "embedding a batch"


def test_a_machine_that_is_too_slow_is_left_alone_after_a_few_chunks(waiting, monkeypatch):
    monkeypatch.setattr(embedding, "_MAX_LATE_IN_A_ROW", 2)
    embedder = SlowEmbedder(most=0)
    work = make_chunk_embedder(waiting, MemoryVectors())

    work.embed_pending(embedder)

    assert waiting.library.count_pending() == 5
    assert embedder.tried.count(1) == 2


@pytest.fixture
def three(desk):
    """Return a desk whose library vouches for three chunks."""
    for name in ("a.md", "b.md", "c.md"):
        desk.write(name, f"text of {name}")
    desk.ingest()
    return desk


@pytest.mark.parametrize("verify", [False, True])
def test_only_verify_reads_the_table_itself(three, verify):
    asked = []

    class Watched(MemoryVectors):
        def list_keys(self, *, verify=False):
            asked.append(verify)
            return super().list_keys()

    reconcile(three.library, Watched(), "v", verify=verify)

    assert asked == [verify]
