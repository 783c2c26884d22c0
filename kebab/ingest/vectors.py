"""Keeps the vector index consistent with the library."""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.core.chunks import PendingChunk, build_embed_text
from kebab.core.documents import EMBEDDING_VERSION, VECTORS_DIRTY, VectorRow
from kebab.core.ids import DocId, Key, find_missing_keys, find_repeated_keys
from kebab.core.ports import Clock, Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import Cancel, ProgressCallback, ProgressKind
from kebab.errors.catalog import EmbeddingMismatch, StoreCorrupt
from kebab.ingest.job import ProgressReporter
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

BATCH_CHUNKS = 4096
"""How many pending chunks are taken at once, and the most rows of one append."""

FLUSH_INTERVAL_S = 30.0
"""How long computed vectors may wait to be durable on a slow machine."""


@dataclass(slots=True)
class VectorCounts:
    """How many vectors were computed and copied, by document, and how many cannot be had."""

    embedded: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    copied: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    unsupported: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Both sides of a vector."""

    library: LibraryWriter
    vectors: VectorWriter
    version: str


class ChunkEmbedder:
    """Gives pending chunks their vectors, slice by slice."""

    def __init__(
        self, stores: Stores, pulse: ProgressReporter, clock: Clock, cancel: Cancel
    ) -> None:
        self.tally = VectorCounts()
        self._library = stores.library
        self._vectors = stores.vectors
        self._version = stores.version
        self._pulse = pulse
        self._clock = clock
        self._cancel = cancel
        self._rows: list[VectorRow] = []
        self._flushed = clock.monotonic()
        self._done = 0

    def copy_twins(self) -> None:
        """Copy vectors to pending chunks that say what an embedded one says, as far as is cheap."""
        self._copy(self._library.list_pending(BATCH_CHUNKS))
        self._flush()

    def fill(self, embedder: Embedder) -> None:
        """Embed everything that is pending, until cancelled."""
        total = self._library.count_pending()
        while not self._cancel.requested:
            chunks = self._library.list_pending(BATCH_CHUNKS)
            if not chunks:
                return
            self._slice(chunks, embedder, total)
            self._flush()

    def _slice(self, chunks: list[PendingChunk], embedder: Embedder, total: int) -> None:
        foreign = [chunk for chunk in chunks if not embedder.supports(chunk.text)]
        if foreign:
            keys = {chunk.key for chunk in foreign}
            self._library.mark_vectors(keys, "unsupported", self._version)
            self.tally.unsupported += len(foreign)
            self._advance(len(foreign), total)
            chunks = [chunk for chunk in chunks if chunk.key not in keys]
        left = self._copy(chunks)
        self._advance(len(chunks) - len(left), total)
        alike: defaultdict[str, list[PendingChunk]] = defaultdict(list)
        for chunk in left:
            alike[chunk.embed_hash].append(chunk)
        self._embed(list(alike.values()), embedder, total)

    def _embed(self, groups: list[list[PendingChunk]], embedder: Embedder, total: int) -> None:
        """Embed each group of equal chunks once."""
        texts = [_build_embed_text(group[0]) for group in groups]
        if not texts:
            return
        for indexes, matrix in embedder.embed_passages(texts):
            for index, vector in zip(indexes, matrix, strict=True):
                self._share(groups[index], vector)
            self._advance(sum(len(groups[index]) for index in indexes), total)
            if self._clock.monotonic() - self._flushed >= FLUSH_INTERVAL_S:
                self._flush()
            if self._cancel.requested:
                return

    def _share(self, group: list[PendingChunk], vector: "Vector") -> None:
        for number, chunk in enumerate(group):
            self._rows.append(_build_row(chunk, vector))
            counts = self.tally.copied if number else self.tally.embedded
            counts[chunk.doc_id] += 1

    def _copy(self, chunks: list[PendingChunk]) -> list[PendingChunk]:
        """Copy what twins have; return the chunks without one."""
        twins = self._library.find_equal_embeddings({chunk.embed_hash for chunk in chunks})
        vectors = self._vectors.get(set(twins.values())) if twins else {}
        left = []
        for chunk in chunks:
            twin = twins.get(chunk.embed_hash)
            vector = None if twin is None else vectors.get(twin)
            if vector is None:
                left.append(chunk)
            else:
                self._rows.append(_build_row(chunk, vector))
                self.tally.copied[chunk.doc_id] += 1
        return left

    def _flush(self) -> None:
        """Make the waiting rows durable, then let the library vouch for them."""
        if self._rows:
            self._vectors.append(self._rows)
            keys = [row.key for row in self._rows]
            self._library.mark_vectors(keys, "committed", self._version)
            self._rows = []
        self._flushed = self._clock.monotonic()

    def _advance(self, count: int, total: int) -> None:
        self._done += count
        if count:
            progress = (self._done, max(total, self._done))
            self._pulse.say(ProgressKind.EMBED_BATCH, count=progress, unit="chunks")


def _build_embed_text(chunk: PendingChunk) -> str:
    return build_embed_text(chunk.title, chunk.heading_path, chunk.text)


def _build_row(chunk: PendingChunk, vector: "Vector") -> VectorRow:
    return VectorRow(chunk.key, chunk.chunk_id, chunk.doc_id, vector)


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, sure: bool = False
) -> None:
    """Delete every row that the library does not vouch for.

    A chunk whose row is missing or stored twice waits for its vector again. With `sure` the rows
    themselves are read.
    """
    stored, vouched = vectors.list_keys(sure=sure), library.list_committed_keys()
    unknown, twice = set(find_missing_keys(stored, vouched)), find_repeated_keys(stored)
    doubtful = {*find_missing_keys(vouched, stored), *twice} - unknown
    if doubtful:
        library.mark_vectors(doubtful, "pending", version)
    stray = unknown | twice
    if stray:
        vectors.delete(stray)
    clear_stored_garbage(library, library.list_deleted_keys())


def clear_stored_garbage(library: LibraryWriter, keys: Collection[Key]) -> None:
    """Forget garbage that the index does not hold, without a transaction for nothing."""
    if keys:
        library.forget_deleted_keys(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What work with vectors needs around it."""

    pulse: ProgressReporter
    clock: Clock
    cancel: Cancel


class VectorSync:
    """Opens the index when there is a reason to, and leaves it agreeing with the library."""

    def __init__(
        self, library: LibraryWriter, opener: Callable[[str], VectorWriter], around: RunContext
    ) -> None:
        self.tally = VectorCounts()
        self._library = library
        self._opener = opener
        self._around = around
        self._filler: ChunkEmbedder | None = None
        self._vectors: VectorWriter | None = None
        self._doubted = False

    @property
    def version(self) -> str | None:
        """The embedding version of the knowledge base, None before its first vectors."""
        return self._library.get_value(EMBEDDING_VERSION)

    @property
    def pending(self) -> int:
        """How many chunks wait for a vector."""
        return self._library.count_pending()

    def outcome(self) -> EmbeddingSummary:
        """Return what became of the vectors so far."""
        return EmbeddingSummary(
            version=self.version,
            embedded=sum(self.tally.embedded.values()),
            reused=sum(self.tally.copied.values()),
            pending=self.pending,
            unsupported=self.tally.unsupported,
        )

    def adopt(self, embedder: Embedder, *, rebuild: bool) -> None:
        """Take the model for this knowledge base.

        Raises:
            EmbeddingMismatch: The vectors come from another model, and no rebuild was asked for.
        """
        found = self.version
        if found == embedder.version:
            return
        if found is not None:
            if not rebuild:
                raise EmbeddingMismatch(expected=embedder.version, found=found)
            # Killed on the way, the old model is still the stored one and everything is pending.
            self._library.reset_vectors(("committed", "unsupported"))
            self._opener(found).clear()
        self._library.set_value(EMBEDDING_VERSION, embedder.version)

    def expect(self) -> None:
        """Let the index get ready for rows while files are read."""
        version = self.version
        if version is not None:
            self._index(version).prepare()

    def doubt(self) -> None:
        """Have this run compare the index with the library, row by row.

        An index that cannot be read is then made anew.
        """
        self._doubted = True
        if self.version is not None:
            self._library.set_value(VECTORS_DIRTY, "1")

    def copy_twins(self) -> None:
        """Save the vectors of documents that are about to be removed for those like them."""
        if self.version is not None and self._library.count_pending():
            self._open().copy_twins()

    def follow(self, embedder: Embedder | None) -> None:
        """Embed what is pending, and delete the vectors of what is gone."""
        pending = self._library.count_pending() if embedder is not None else 0
        if self.version is None:
            clear_stored_garbage(self._library, self._library.list_deleted_keys())
        elif pending or self._library.list_deleted_keys() or self._library.get_value(VECTORS_DIRTY):
            filler = self._open()
            if embedder is not None:
                filler.fill(embedder)
            self._close()

    def _open(self) -> ChunkEmbedder:
        """Open the index once and make it agree with the library first."""
        if self._filler is None:
            version = self.version
            assert version is not None, "vectors are opened after a model was adopted"
            self._around.pulse.beat("vectors")
            vectors = self._index(version)
            self._library.set_value(VECTORS_DIRTY, "1")
            self._agree(vectors, version)
            stores = Stores(library=self._library, vectors=vectors, version=version)
            around = self._around
            self._filler = ChunkEmbedder(stores, around.pulse, around.clock, around.cancel)
            self.tally = self._filler.tally
        return self._filler

    def _index(self, version: str) -> VectorWriter:
        if self._vectors is None:
            self._vectors = self._opener(version)
        return self._vectors

    def _agree(self, vectors: VectorWriter, version: str) -> None:
        try:
            reconcile(self._library, vectors, version, sure=self._doubted)
        except StoreCorrupt:
            if not self._doubted:
                raise
            # Every vector comes from a passage, so nothing is lost but the time to compute it.
            vectors.clear()
            reconcile(self._library, vectors, version)

    def _close(self) -> None:
        """Delete garbage that came up since the index was opened, and compact."""
        assert self._vectors is not None, "the index was opened"
        garbage = self._library.list_deleted_keys()
        if garbage:
            self._vectors.delete(garbage)
            self._library.forget_deleted_keys(garbage)
        self._vectors.maintain()
        self._library.set_value(VECTORS_DIRTY, None)


def reembed(
    library: LibraryWriter,
    vectors: Callable[[str], VectorWriter],
    embedder: Embedder,
    around: tuple[ProgressCallback, Clock, Cancel],
) -> EmbeddingSummary:
    """Make this the model of the knowledge base; interrupted, the rest stays pending."""
    report, clock, cancel = around
    pulse = ProgressReporter(report, clock)
    ended = ProgressKind.ABORTED
    try:
        side = VectorSync(library, vectors, RunContext(pulse=pulse, clock=clock, cancel=cancel))
        side.adopt(embedder, rebuild=True)
        side.follow(embedder)
        library.checkpoint()
        if not cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        pulse.say(ended)
    return side.outcome()
