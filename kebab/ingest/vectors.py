"""Keeps the vector index consistent with the library, and embeds the chunks without a vector.

The order of writes makes a crash harmless at any time: rows are appended and durable first, then
the library marks their chunks as committed. The next run deletes rows that are not marked.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.core.chunks import PendingChunk, build_embed_text
from kebab.core.documents import EMBEDDING_VERSION, VECTORS_DIRTY, VectorRow
from kebab.core.ids import DocId, find_missing_keys, find_repeated_keys
from kebab.core.ports import Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import EmbeddingMismatch, StoreCorrupt
from kebab.ingest.job import RunContext
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

BATCH_CHUNKS = 4096
"""How many pending chunks are loaded at once, and the most rows of one append."""

FLUSH_INTERVAL_S = 30.0
"""How long computed vectors may wait to be durable on a slow machine."""


@dataclass(slots=True)
class VectorCounts:
    """Counts computed and copied vectors by document, and chunks that the model cannot embed."""

    embedded: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    copied: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    unsupported: int = 0


class ChunkEmbedder:
    """Gives pending chunks their vectors in batches: copied where possible, else computed."""

    def __init__(
        self, library: LibraryWriter, vectors: VectorWriter, version: str, context: RunContext
    ) -> None:
        self.counts = VectorCounts()
        self._library = library
        self._vectors = vectors
        self._version = version
        self._context = context
        self._rows: list[VectorRow] = []
        self._last_flush = context.clock.monotonic()
        self._done = 0

    def copy_equal_vectors(self) -> None:
        """Copy vectors to the first pending chunks from embedded chunks with the same text."""
        self._copy(self._library.list_pending(BATCH_CHUNKS))
        self._flush()

    def embed_pending(self, embedder: Embedder) -> None:
        """Embed all pending chunks, until cancelled."""
        total = self._library.count_pending()
        while not self._context.cancel.requested:
            chunks = self._library.list_pending(BATCH_CHUNKS)
            if not chunks:
                return
            self._embed_batch(chunks, embedder, total)
            self._flush()

    def _embed_batch(self, chunks: list[PendingChunk], embedder: Embedder, total: int) -> None:
        unsupported = {chunk.key for chunk in chunks if not embedder.supports(chunk.text)}
        if unsupported:
            self._library.mark_vectors(unsupported, "unsupported", self._version)
            self.counts.unsupported += len(unsupported)
            self._report(len(unsupported), total)
            chunks = [chunk for chunk in chunks if chunk.key not in unsupported]
        remaining = self._copy(chunks)
        self._report(len(chunks) - len(remaining), total)
        groups: defaultdict[str, list[PendingChunk]] = defaultdict(list)
        for chunk in remaining:
            groups[chunk.embed_hash].append(chunk)
        self._embed_groups(list(groups.values()), embedder, total)

    def _embed_groups(
        self, groups: list[list[PendingChunk]], embedder: Embedder, total: int
    ) -> None:
        """Embed each group of equal chunks once."""
        if not groups:
            return
        firsts = [group[0] for group in groups]
        texts = [build_embed_text(chunk.title, chunk.heading_path, chunk.text) for chunk in firsts]
        for indexes, matrix in embedder.embed_passages(texts):
            for index, vector in zip(indexes, matrix, strict=True):
                for number, chunk in enumerate(groups[index]):
                    self._add(chunk, vector, is_copy=number > 0)
            self._report(sum(len(groups[index]) for index in indexes), total)
            if self._context.clock.monotonic() - self._last_flush >= FLUSH_INTERVAL_S:
                self._flush()
            if self._context.cancel.requested:
                return

    def _copy(self, chunks: list[PendingChunk]) -> list[PendingChunk]:
        """Copy the vectors of equal chunks; return the chunks without one."""
        equal_keys = self._library.find_equal_embeddings({chunk.embed_hash for chunk in chunks})
        vectors = self._vectors.get(set(equal_keys.values())) if equal_keys else {}
        remaining = []
        for chunk in chunks:
            key = equal_keys.get(chunk.embed_hash)
            vector = None if key is None else vectors.get(key)
            if vector is None:
                remaining.append(chunk)
            else:
                self._add(chunk, vector, is_copy=True)
        return remaining

    def _add(self, chunk: PendingChunk, vector: "Vector", *, is_copy: bool) -> None:
        self._rows.append(VectorRow(chunk.key, chunk.chunk_id, chunk.doc_id, vector))
        counts = self.counts.copied if is_copy else self.counts.embedded
        counts[chunk.doc_id] += 1

    def _flush(self) -> None:
        """Make the buffered rows durable, then mark their chunks as committed."""
        if self._rows:
            self._vectors.append(self._rows)
            keys = [row.key for row in self._rows]
            self._library.mark_vectors(keys, "committed", self._version)
            self._rows = []
        self._last_flush = self._context.clock.monotonic()

    def _report(self, count: int, total: int) -> None:
        self._done += count
        if count:
            progress = (self._done, max(total, self._done))
            self._context.reporter.send(ProgressKind.EMBED_BATCH, count=progress, unit="chunks")


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, verify: bool = False
) -> None:
    """Delete every row whose chunk is not marked as committed.

    A chunk whose row is missing or stored twice becomes pending again. With `verify` the rows
    themselves are read.
    """
    stored, committed = vectors.list_keys(verify=verify), library.list_committed_keys()
    unknown, repeated = set(find_missing_keys(stored, committed)), find_repeated_keys(stored)
    pending = {*find_missing_keys(committed, stored), *repeated} - unknown
    if pending:
        library.mark_vectors(pending, "pending", version)
    stray = unknown | repeated
    if stray:
        vectors.delete(stray)
    _forget_deleted_keys(library)


def _forget_deleted_keys(library: LibraryWriter) -> None:
    keys = library.list_deleted_keys()
    if keys:
        library.forget_deleted_keys(keys)


class VectorSync:
    """Opens the vector index when a run needs it, and leaves it consistent with the library."""

    def __init__(
        self,
        library: LibraryWriter,
        open_index: Callable[[str], VectorWriter],
        context: RunContext,
    ) -> None:
        self.counts = VectorCounts()
        self._library = library
        self._open_index = open_index
        self._context = context
        self._chunk_embedder: ChunkEmbedder | None = None
        self._vectors: VectorWriter | None = None
        self._verifies_all = False

    @property
    def version(self) -> str | None:
        """The embedding version of the knowledge base, None before its first vectors."""
        return self._library.get_value(EMBEDDING_VERSION)

    def build_summary(self) -> EmbeddingSummary:
        """Return the counts of the run so far."""
        return EmbeddingSummary(
            version=self.version,
            embedded=sum(self.counts.embedded.values()),
            reused=sum(self.counts.copied.values()),
            pending=self._library.count_pending(),
            unsupported=self.counts.unsupported,
        )

    def set_model(self, embedder: Embedder, *, rebuild: bool) -> None:
        """Make this the model of the knowledge base.

        Raises:
            EmbeddingMismatch: The vectors come from another model, and `rebuild` is false.
        """
        stored = self.version
        if stored == embedder.version:
            return
        if stored is not None:
            if not rebuild:
                raise EmbeddingMismatch(expected=embedder.version, found=stored)
            # After a crash here the old model is still the stored one and everything is pending.
            self._library.reset_vectors(("committed", "unsupported"))
            self._open_index(stored).clear()
        self._library.set_value(EMBEDDING_VERSION, embedder.version)

    def prepare_index(self) -> None:
        """Let the index load what writing needs while files are read."""
        version = self.version
        if version is not None:
            self._load_index(version).prepare()

    def verify_all(self) -> None:
        """Make this run compare the index with the library row by row.

        An index that cannot be read is then built again.
        """
        self._verifies_all = True
        if self.version is not None:
            self._library.set_value(VECTORS_DIRTY, "1")

    def copy_equal_vectors(self) -> None:
        """Copy vectors of documents that the run removes next to pending chunks of equal text."""
        if self.version is not None and self._library.count_pending():
            self._open().copy_equal_vectors()

    def update(self, embedder: Embedder | None) -> None:
        """Embed pending chunks, and delete the vectors of removed chunks."""
        pending = self._library.count_pending() if embedder is not None else 0
        if self.version is None:
            _forget_deleted_keys(self._library)
        elif pending or self._library.list_deleted_keys() or self._library.get_value(VECTORS_DIRTY):
            chunk_embedder = self._open()
            if embedder is not None:
                chunk_embedder.embed_pending(embedder)
            self._finish()

    def _open(self) -> ChunkEmbedder:
        """Open the index once and reconcile it with the library first."""
        if self._chunk_embedder is None:
            version = self.version
            assert version is not None, "vectors are opened after the model was set"
            self._context.reporter.send_heartbeat("vectors")
            vectors = self._load_index(version)
            self._library.set_value(VECTORS_DIRTY, "1")
            self._reconcile(vectors, version)
            self._chunk_embedder = ChunkEmbedder(self._library, vectors, version, self._context)
            self.counts = self._chunk_embedder.counts
        return self._chunk_embedder

    def _load_index(self, version: str) -> VectorWriter:
        if self._vectors is None:
            self._vectors = self._open_index(version)
        return self._vectors

    def _reconcile(self, vectors: VectorWriter, version: str) -> None:
        try:
            reconcile(self._library, vectors, version, verify=self._verifies_all)
        except StoreCorrupt:
            if not self._verifies_all:
                raise
            # Every vector comes from a chunk, so only the time to compute it is lost.
            vectors.clear()
            reconcile(self._library, vectors, version)

    def _finish(self) -> None:
        """Delete the rows of chunks that were removed since the index was opened, and compact."""
        assert self._vectors is not None, "the index was opened"
        deleted = self._library.list_deleted_keys()
        if deleted:
            self._vectors.delete(deleted)
            self._library.forget_deleted_keys(deleted)
        self._vectors.maintain()
        self._library.set_value(VECTORS_DIRTY, None)


def reembed(
    library: LibraryWriter,
    open_index: Callable[[str], VectorWriter],
    embedder: Embedder,
    context: RunContext,
) -> EmbeddingSummary:
    """Make this the model of the knowledge base; after a cancel the rest stays pending."""
    ended = ProgressKind.ABORTED
    try:
        sync = VectorSync(library, open_index, context)
        sync.set_model(embedder, rebuild=True)
        sync.update(embedder)
        library.checkpoint()
        if not context.cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return sync.build_summary()
