"""Keeps the vector index consistent with the library."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from kebab.core.documents import EMBEDDING_VERSION, VECTORS_DIRTY
from kebab.core.ids import Key, lacking, repeated
from kebab.core.ports import Clock, Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import Cancel, ProgressKind, Report
from kebab.errors.catalog import EmbeddingMismatch, StoreCorrupt
from kebab.ingest.embedding import Filler, Stores, Tally
from kebab.ingest.ports import Pulse
from kebab.wire.ingest import EmbeddingSummary


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, sure: bool = False
) -> None:
    """Delete every row that the library does not vouch for.

    A chunk whose row is missing or stored twice waits for its vector again. With `sure` the rows
    themselves are read.
    """
    stored, vouched = vectors.keys(sure=sure), library.vector_keys()
    unknown, twice = set(lacking(stored, vouched)), repeated(stored)
    doubtful = {*lacking(vouched, stored), *twice} - unknown
    if doubtful:
        library.mark_vectors(doubtful, "pending", version)
    stray = unknown | twice
    if stray:
        vectors.delete(stray)
    clear_garbage(library, library.garbage())


def clear_garbage(library: LibraryWriter, keys: Collection[Key]) -> None:
    """Forget garbage that the index does not hold, without a transaction for nothing."""
    if keys:
        library.clear_garbage(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What work with vectors needs around it."""

    pulse: Pulse
    clock: Clock
    cancel: Cancel


class VectorSide:
    """Opens the index when there is a reason to, and leaves it agreeing with the library."""

    def __init__(
        self, library: LibraryWriter, opener: Callable[[str], VectorWriter], around: Around
    ) -> None:
        self.tally = Tally()
        self._library = library
        self._opener = opener
        self._around = around
        self._filler: Filler | None = None
        self._vectors: VectorWriter | None = None
        self._doubted = False

    @property
    def version(self) -> str | None:
        """The embedding version of the knowledge base, None before its first vectors."""
        return self._library.get_value(EMBEDDING_VERSION)

    @property
    def pending(self) -> int:
        """How many chunks wait for a vector."""
        return self._library.pending_count()

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
        if self.version is not None and self._library.pending_count():
            self._open().copy_twins()

    def follow(self, embedder: Embedder | None) -> None:
        """Embed what is pending, and delete the vectors of what is gone."""
        pending = self._library.pending_count() if embedder is not None else 0
        if self.version is None:
            clear_garbage(self._library, self._library.garbage())
        elif pending or self._library.garbage() or self._library.get_value(VECTORS_DIRTY):
            filler = self._open()
            if embedder is not None:
                filler.fill(embedder)
            self._close()

    def _open(self) -> Filler:
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
            self._filler = Filler(stores, around.pulse, around.clock, around.cancel)
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
        garbage = self._library.garbage()
        if garbage:
            self._vectors.delete(garbage)
            self._library.clear_garbage(garbage)
        self._vectors.maintain()
        self._library.set_value(VECTORS_DIRTY, None)


def reembed(
    library: LibraryWriter,
    vectors: Callable[[str], VectorWriter],
    embedder: Embedder,
    around: tuple[Report, Clock, Cancel],
) -> EmbeddingSummary:
    """Make this the model of the knowledge base; interrupted, the rest stays pending."""
    report, clock, cancel = around
    pulse = Pulse(report, clock)
    ended = ProgressKind.ABORTED
    try:
        side = VectorSide(library, vectors, Around(pulse=pulse, clock=clock, cancel=cancel))
        side.adopt(embedder, rebuild=True)
        side.follow(embedder)
        library.checkpoint()
        if not cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        pulse.say(ended)
    return side.outcome()
