"""Vectors for the chunks that lack one: copied from twins where possible, computed otherwise.

The order makes every instant safe to die in: rows are appended and durable first, and only then
does the library say so. What was appended and not yet vouched for is deleted by the next run.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kebab.core.chunks import PendingChunk, embed_text
from kebab.core.documents import VectorRow
from kebab.core.ids import DocId
from kebab.core.ports import Clock, Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import Cancel, ProgressKind
from kebab.ingest.ports import Pulse

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

SLICE = 4096
"""How many pending chunks are taken at once, and the most rows of one append."""

FLUSH_S = 30.0
"""How long computed vectors may wait to be durable on a slow machine."""


@dataclass(slots=True)
class Tally:
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


class Filler:
    """Gives pending chunks their vectors, slice by slice."""

    def __init__(self, stores: Stores, pulse: Pulse, clock: Clock, cancel: Cancel) -> None:
        self.tally = Tally()
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
        self._copy(self._library.pending(SLICE))
        self._flush()

    def fill(self, embedder: Embedder) -> None:
        """Embed everything that is pending, until cancelled."""
        total = self._library.pending_count()
        while not self._cancel.requested:
            chunks = self._library.pending(SLICE)
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
        texts = [_text(group[0]) for group in groups]
        if not texts:
            return
        for indexes, matrix in embedder.embed_passages(texts):
            for index, vector in zip(indexes, matrix, strict=True):
                self._share(groups[index], vector)
            self._advance(sum(len(groups[index]) for index in indexes), total)
            if self._clock.monotonic() - self._flushed >= FLUSH_S:
                self._flush()
            if self._cancel.requested:
                return

    def _share(self, group: list[PendingChunk], vector: "Vector") -> None:
        for number, chunk in enumerate(group):
            self._rows.append(_row(chunk, vector))
            counts = self.tally.copied if number else self.tally.embedded
            counts[chunk.doc_id] += 1

    def _copy(self, chunks: list[PendingChunk]) -> list[PendingChunk]:
        """Copy what twins have; return the chunks without one."""
        twins = self._library.embedded_twins({chunk.embed_hash for chunk in chunks})
        vectors = self._vectors.get(set(twins.values())) if twins else {}
        left = []
        for chunk in chunks:
            twin = twins.get(chunk.embed_hash)
            vector = None if twin is None else vectors.get(twin)
            if vector is None:
                left.append(chunk)
            else:
                self._rows.append(_row(chunk, vector))
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


def _text(chunk: PendingChunk) -> str:
    return embed_text(chunk.title, chunk.heading_path, chunk.text)


def _row(chunk: PendingChunk, vector: "Vector") -> VectorRow:
    return VectorRow(chunk.key, chunk.chunk_id, chunk.doc_id, vector)
