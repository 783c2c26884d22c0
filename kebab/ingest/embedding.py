"""Embeds the chunks that have no vector, and makes the vectors durable at short intervals."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.core.chunks import PendingChunk, build_embed_text
from kebab.core.documents import VectorRow
from kebab.core.ids import DocId, Key
from kebab.core.ports import Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import TimedOut
from kebab.ingest.job import RunContext

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

BATCH_CHUNKS = 4096
"""How many pending chunks are loaded at once, and the most rows of one append."""

FLUSH_INTERVAL_S = 5.0
"""How long computed vectors may wait to be durable: a killed run computes them again."""

_FLUSHES_PER_MAINTENANCE = 100
"""How often the table of a long run is compacted, because every flush adds a small fragment."""

_RETRY_TEXTS, _RETRY_FACTOR = 8, 4
"""How many texts are tried together after a batch was too slow, and how that number changes."""

_MAX_LATE_IN_A_ROW = 3
"""After so many single texts that take too long, the machine is too slow to embed now."""


def embed_texts(
    embedder: Embedder, texts: Sequence[str], handle_late: Callable[[int, TimedOut], bool]
) -> "Iterator[tuple[list[int], Matrix]]":
    """Yield (indexes into texts, vectors); after a batch that was too slow, try smaller ones.

    `handle_late` gets the index of a text that takes too long alone, and its error; it returns
    whether the other texts are tried.
    """
    waiting, size = list(range(len(texts))), len(texts)
    while waiting:
        part, done = waiting[:size], set[int]()
        try:
            for indexes, matrix in embedder.embed_passages([texts[index] for index in part]):
                found = [part[index] for index in indexes]
                done.update(found)
                yield found, matrix
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
        self, library: LibraryWriter, vectors: VectorWriter, version: str, context: RunContext
    ) -> None:
        self.counts = VectorCounts()
        self.fault: TimedOut | None = None
        """The error of the last chunk that took too long; it stays pending."""
        self._late: set[Key] = set()
        self._late_in_a_row = 0
        self._library = library
        self._vectors = vectors
        self._version = version
        self._context = context
        self._rows: list[tuple[VectorRow, bool]] = []
        self._last_flush = context.clock.monotonic()
        self._done = 0
        self._flushes = 0

    def copy_equal_vectors(self) -> None:
        """Copy vectors to the first pending chunks from embedded chunks with the same text."""
        self._copy(self._library.list_pending(BATCH_CHUNKS))
        self._flush()

    def embed_pending(self, embedder: Embedder) -> None:
        """Embed all pending chunks, until cancelled or until the time is up.

        A chunk that takes too long stays pending; after several in a row all others do.
        """
        total = self._library.count_pending()
        while not self._context.embedding_ended and self._late_in_a_row < _MAX_LATE_IN_A_ROW:
            chunks = self._library.list_pending(
                BATCH_CHUNKS + len(self._late), self._context.list_searched()
            )
            chunks = [chunk for chunk in chunks if chunk.key not in self._late]
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
        texts = [
            build_embed_text(chunk.title, chunk.heading_path, chunk.text, chunk.context)
            for chunk in firsts
        ]

        def skip(index: int, error: TimedOut) -> bool:
            self._late.update(chunk.key for chunk in groups[index])
            self._late_in_a_row += 1
            self.fault = error
            return self._late_in_a_row < _MAX_LATE_IN_A_ROW and not self._context.embedding_ended

        for indexes, matrix in embed_texts(embedder, texts, skip):
            self._late_in_a_row = 0
            for index, vector in zip(indexes, matrix, strict=True):
                for number, chunk in enumerate(groups[index]):
                    self._add(chunk, vector, is_copy=number > 0)
            self._report(sum(len(groups[index]) for index in indexes), total)
            if self._context.clock.monotonic() - self._last_flush >= FLUSH_INTERVAL_S:
                self._flush()
            if self._context.embedding_ended:
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
        self._rows.append((VectorRow(chunk.key, chunk.chunk_id, chunk.doc_id, vector), is_copy))

    def _flush(self) -> None:
        """Make the buffered rows durable, mark their chunks as committed, and count them."""
        if self._rows:
            self._vectors.append([row for row, _ in self._rows])
            keys = [row.key for row, _ in self._rows]
            self._library.mark_vectors(keys, "committed", self._version)
            for row, is_copy in self._rows:
                counts = self.counts.copied if is_copy else self.counts.embedded
                counts[row.doc_id] += 1
            self._rows = []
            self._flushes += 1
            if self._flushes % _FLUSHES_PER_MAINTENANCE == 0:
                self._vectors.maintain()
        self._last_flush = self._context.clock.monotonic()

    def _report(self, count: int, total: int) -> None:
        self._done += count
        if count:
            progress = (self._done, max(total, self._done))
            self._context.reporter.send(ProgressKind.EMBED_BATCH, count=progress, unit="chunks")
