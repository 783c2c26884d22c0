"""Keeps the vector index consistent with the library, and embeds the chunks without a vector.

The order of writes makes a crash harmless at any time: rows are appended and durable first, then
readers get them, then the library marks their chunks as committed. The next run deletes the rows
that are not marked.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import (
    DocId,
    Key,
    PendingChunk,
    build_embed_text,
    find_missing_keys,
    find_repeated_keys,
)
from kebab.core.documents import EMBEDDING_VERSION, VectorRow
from kebab.core.ports import Embedder, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
from kebab.ingest.job import LoadedModel, RunContext
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.store.sqlite.writer import SqliteWriter


BATCH_CHUNKS = 4096
"""How many pending chunks are loaded at once, and the most rows of one append."""

FLUSH_INTERVAL_S, _FLUSH_SHARE = 5.0, 20
"""How long computed vectors may wait to be durable, and by how much longer than a flush takes.

A killed run computes them again. A flush writes the snapshot of all vectors.
"""

_RETRY_TEXTS, _RETRY_FACTOR = 8, 4
"""How many texts are tried together after a batch was too slow, and how that number changes."""

_MAX_LATE_IN_A_ROW = 3
"""After so many single texts that take too long, the machine is too slow to embed now."""


def embed_texts(
    embed: "Callable[[Sequence[str]], Iterator[tuple[list[int], Matrix]]]",
    texts: Sequence[str],
    handle_late: Callable[[int, TimedOut], bool],
) -> "Iterator[tuple[list[int], Matrix]]":
    """Yield (indexes into texts, vectors); after a batch that was too slow, try smaller ones.

    A batch of which nothing is embedded ends the work.

    `handle_late` gets the index of a text that takes too long alone, and its error; it returns
    whether the other texts are tried.
    """
    waiting, size = list(range(len(texts))), len(texts)
    while waiting:
        part, done = waiting[:size], set[int]()
        try:
            for indexes, matrix in embed([texts[index] for index in part]):
                found = [part[index] for index in indexes]
                done.update(found)
                yield found, matrix
            if not done:
                return
            size *= _RETRY_FACTOR
        except TimedOut as error:
            if len(part) == 1:
                if not handle_late(part[0], error):
                    return
                done.update(part)
            size = min(_RETRY_TEXTS, max(1, len(part) // _RETRY_FACTOR))
        waiting = [index for index in part if index not in done] + waiting[len(part) :]


@dataclass(slots=True)
class VectorCounts:
    """Counts computed and copied vectors by document, and chunks that the model cannot embed."""

    embedded: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    copied: defaultdict[DocId, int] = field(default_factory=lambda: defaultdict(int))
    unsupported: int = 0


class ChunkEmbedder:
    """Gives pending chunks their vectors in batches: copied where possible, else computed."""

    def __init__(
        self, library: "SqliteWriter", vectors: VectorWriter, version: str, context: RunContext
    ) -> None:
        self.counts = VectorCounts()
        self.fault: TimedOut | None = None
        """The error of the last chunk that took too long; it stays pending."""
        self._library = library
        self._vectors = vectors
        self._version = version
        self._context = context
        self._rows: list[VectorRow] = []
        self._documents: dict[Key, DocId] = {}
        """The document of each buffered row."""
        self._copies: set[Key] = set()
        self._late: set[Key] = set()
        self._late_in_a_row = 0
        self._done = 0
        self._next_flush = context.clock.monotonic() + FLUSH_INTERVAL_S

    def copy_equal_vectors(self) -> None:
        """Copy vectors to the first pending chunks from embedded chunks with the same text."""
        self._copy(self._library.list_pending(BATCH_CHUNKS))
        self._flush()

    def embed_pending(self, embedder: Embedder) -> None:
        """Embed all pending chunks, until cancelled or until the time is up.

        A chunk that takes too long stays pending; after several in a row all others do.
        """
        total = self._library.count_pending()
        at_once = BATCH_CHUNKS if self._context.cluster is None else self._context.cluster.at_once
        while not self._context.embedding_ended and self._late_in_a_row < _MAX_LATE_IN_A_ROW:
            chunks = self._library.list_pending(
                at_once + len(self._late), self._context.list_searched()
            )
            chunks = [chunk for chunk in chunks if chunk.key not in self._late]
            if not chunks:
                return
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
            self._flush()

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
                self._copies.add(chunk.key)
                self._buffer([chunk], vector)
        return remaining

    def _embed_groups(
        self, groups: list[list[PendingChunk]], embedder: Embedder, total: int
    ) -> None:
        """Embed each group of equal chunks once."""
        if not groups:
            return
        texts = [
            build_embed_text(chunk.title, chunk.heading_path, chunk.text, chunk.context)
            for chunk, *_ in groups
        ]
        handle_late = partial(self._handle_late, groups)
        cluster, embed = self._context.cluster, embedder.embed_passages
        if cluster is not None:
            embed = partial(cluster.embed_passages, embedder, should_stop=self._should_stop)
        for indexes, matrix in embed_texts(embed, texts, handle_late):
            for index, vector in zip(indexes, matrix, strict=True):
                self._late_in_a_row = 0
                self._copies.update(chunk.key for chunk in groups[index][1:])
                self._buffer(groups[index], vector)
            self._report(sum(len(groups[index]) for index in indexes), total)
            if self._context.clock.monotonic() >= self._next_flush:
                self._flush()
            if self._context.embedding_ended:
                return

    def _should_stop(self) -> bool:
        self._context.reporter.send_heartbeat("embed")
        if self._rows and self._context.clock.monotonic() >= self._next_flush:
            self._flush()
        return self._context.embedding_ended

    def _handle_late(self, groups: list[list[PendingChunk]], index: int, error: TimedOut) -> bool:
        self._late.update(chunk.key for chunk in groups[index])
        self._late_in_a_row += 1
        self.fault = error
        return self._late_in_a_row < _MAX_LATE_IN_A_ROW and not self._context.embedding_ended

    def _buffer(self, group: list[PendingChunk], vector: "Vector") -> None:
        self._documents |= {chunk.key: chunk.doc_id for chunk in group}
        self._rows += [VectorRow(chunk.key, vector) for chunk in group]

    def _flush(self) -> None:
        """Store the buffered rows, so that a killed run does not compute them again."""
        started = self._context.clock.monotonic()
        if self._rows:
            self._vectors.append(self._rows)
            self._vectors.save()
            self._library.mark_vectors([row.key for row in self._rows], "committed", self._version)
            for row in self._rows:
                counts = self.counts.copied if row.key in self._copies else self.counts.embedded
                counts[self._documents.pop(row.key)] += 1
            self._rows, self._copies = [], set()
        now = self._context.clock.monotonic()
        self._next_flush = now + max(FLUSH_INTERVAL_S, _FLUSH_SHARE * (now - started))

    def _report(self, count: int, total: int) -> None:
        self._done += count
        if count:
            progress = (self._done, max(total, self._done))
            self._context.reporter.send(ProgressKind.EMBED_BATCH, count=progress, unit="chunks")


NO_MODEL = (EmbeddingUnavailable, DependencyMissing, OutOfMemory)
"""The reasons for a run without vectors."""

NoModel: TypeAlias = EmbeddingUnavailable | DependencyMissing | OutOfMemory


def reconcile(
    library: "SqliteWriter", vectors: VectorWriter, version: str, *, verify: bool = False
) -> int:
    """Delete every row whose chunk is not marked as committed; return how many vectors are lost.

    A chunk whose row is missing or stored twice becomes pending again. With `verify` the
    rows of the table itself are read.
    """
    stored, committed = vectors.list_keys(verify=verify), library.list_committed_keys()
    repeated = find_repeated_keys(stored)
    unknown = set(find_missing_keys(stored, committed))
    lost = {*find_missing_keys(committed, stored), *repeated} - unknown
    if lost:
        library.mark_vectors(lost, "pending", version)
    if stray := unknown | repeated:
        vectors.delete(stray)
    vectors.save()
    return len(lost)


class VectorSync:
    """Opens the vector index when a run needs it, and leaves it consistent with the library."""

    def __init__(
        self,
        library: "SqliteWriter",
        open_index: Callable[[str], VectorWriter],
        context: RunContext,
    ) -> None:
        self.counts = VectorCounts()
        self.fault: NoModel | TimedOut | None = None
        """The reason why there is no model, or why it leaves passages without a vector."""
        self._library = library
        self._open_index = open_index
        self._context = context
        self._chunk_embedder: ChunkEmbedder | None = None
        self._vectors: VectorWriter | None = None
        self._lost = 0
        self._reconciled: int | None = None
        """The corpus revision that the index agrees with."""
        self._reason: str | None = None

    @property
    def version(self) -> str | None:
        """The embedding version of the knowledge base, None before its first vectors."""
        return self._library.get_value(EMBEDDING_VERSION)

    def build_summary(self) -> EmbeddingSummary:
        """Return the counts of the run so far."""
        fault = self.fault
        said = fault.format_message() if fault else None
        return EmbeddingSummary(
            version=self.version,
            reason=self._reason,
            embedded=sum(self.counts.embedded.values()),
            reused=sum(self.counts.copied.values()),
            pending=self._library.count_pending(),
            unsupported=self.counts.unsupported,
            lost=self._lost,
            unavailable=fault.cause if isinstance(fault, EmbeddingUnavailable) else said,
            hint=None if fault is None else fault.format_hint(),
        )

    def set_model(self, embedder: Embedder, *, reason: str | None = None) -> None:
        """Make this the model of a knowledge base without vectors; `reason` says why.

        Raises:
            EmbeddingMismatch: The vectors come from another model.
        """
        if self.version not in {None, embedder.profile.version}:
            raise EmbeddingMismatch(expected=embedder.profile.version, found=self.version)
        self.change_model(embedder, reason=reason)

    def change_model(self, embedder: Embedder, *, reason: str | None = None) -> None:
        """Make this the model of the knowledge base; vectors of another one do not count any more.

        `reason` says why.
        """
        if self.version == embedder.profile.version:
            return
        self._library.replace_model(embedder.profile.version, reason)
        self._library.checkpoint()  # the old vectors are deleted next
        self._reason = reason
        self.reconcile()  # of a library that was lost, vectors may be left

    def reconcile(self, *, verify: bool = False) -> None:
        """Bring the index and the marks of the library into agreement.

        A killed run may have left them apart. What was lost becomes pending, and is computed again.
        """
        version = self.version
        if version is None:
            return
        vectors = self._load_index(version)
        vectors.delete_others()
        try:
            self._lost = reconcile(self._library, vectors, version, verify=verify)
        except StoreCorrupt:
            vectors.rebuild()
            self._lost = reconcile(self._library, vectors, version, verify=True)
        self._reconciled = self._library.get_revision()
        if self._lost:
            count = f"{self._lost:,} vector" + ("" if self._lost == 1 else "s")
            message = f"lost or damaged, computed again: {count}"
            self._context.reporter.send(ProgressKind.HEARTBEAT, phase="vectors", message=message)

    def copy_equal_vectors(self) -> None:
        """Copy vectors of documents that the run removes next to pending chunks of equal text."""
        if self.version is not None and self._library.count_pending():
            self._open().copy_equal_vectors()

    def update(self, embedder: Embedder | None) -> None:
        """Embed pending chunks, and delete the vectors of removed chunks."""
        version = self.version
        if version is None:
            return
        if embedder is not None and self._library.count_pending():
            chunk_embedder = self._open()
            chunk_embedder.embed_pending(embedder)
            self.fault = chunk_embedder.fault or self.fault
        if self._library.get_revision() != self._reconciled:
            reconcile(self._library, self._load_index(version), version)

    def _open(self) -> ChunkEmbedder:
        if self._chunk_embedder is None:
            version = self.version
            assert version is not None, "vectors are written after the model was set"
            self._context.reporter.send_heartbeat("vectors")
            vectors = self._load_index(version)
            self._chunk_embedder = ChunkEmbedder(self._library, vectors, version, self._context)
            self.counts = self._chunk_embedder.counts
        return self._chunk_embedder

    def _load_index(self, version: str) -> VectorWriter:
        if self._vectors is None:
            self._vectors = self._open_index(version)
        return self._vectors


def reembed(
    library: "SqliteWriter",
    open_index: Callable[[str], VectorWriter],
    model: LoadedModel,
    context: RunContext,
) -> EmbeddingSummary:
    """Make this the model of the knowledge base, and embed every passage with it.

    The vectors of the old model stop to count in one transaction. From then on searches use words
    and the new vectors that are there already, as during a first ingest; the next ingest embeds
    what a cancelled or killed change leaves.

    `pending` of the summary counts the passages that have no vector yet.
    """
    ended = ProgressKind.ABORTED
    try:
        sync = VectorSync(library, open_index, context)
        sync.change_model(model.embedder, reason=model.reason)
        sync.update(model.embedder)
        library.checkpoint()
        if not context.cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return sync.build_summary()
