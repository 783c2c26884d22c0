"""Keeps the vector index consistent with the library, and embeds the chunks without a vector.

The order of writes makes a crash harmless at any time: rows are appended and durable first, then
the library marks their chunks as committed. The next run deletes rows that are not marked.
"""

from collections.abc import Callable
from typing import TypeAlias

from kebab.core.documents import (
    EMBEDDING_REASON,
    EMBEDDING_VERSION,
    OLD_VECTORS,
    VECTOR_FILES,
    VECTORS_DIRTY,
)
from kebab.core.ids import Key, find_missing_keys, find_repeated_keys
from kebab.core.ports import Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
from kebab.ingest.embedding import ChunkEmbedder, VectorCounts
from kebab.ingest.job import RunContext
from kebab.wire.ingest import EmbeddingSummary

NO_MODEL = (EmbeddingUnavailable, DependencyMissing, OutOfMemory)
"""The reasons for a run without vectors."""

NoModel: TypeAlias = EmbeddingUnavailable | DependencyMissing | OutOfMemory


def reconcile(
    library: LibraryWriter, vectors: VectorWriter, version: str, *, verify: bool = False
) -> int:
    """Delete every row whose chunk is not marked as committed; return how many vectors are lost.

    A chunk whose row is missing, damaged or stored twice becomes pending again. With `verify` the
    rows themselves are read.
    """
    stored, committed = vectors.list_keys(verify=verify), library.list_committed_keys()
    unknown, repeated = set(find_missing_keys(stored, committed)), find_repeated_keys(stored)
    damaged = vectors.find_damaged_keys() if verify else set[Key]()
    pending = {*find_missing_keys(committed, stored), *repeated, *damaged} - unknown
    if pending:
        library.mark_vectors(pending, "pending", version)
    stray = unknown | repeated | damaged
    if stray:
        vectors.delete(stray)
    _forget_deleted_keys(library)
    return len(pending)


def describe_fault(fault: NoModel | TimedOut) -> str:
    """Return why passages lack a vector, in the words of the model's source."""
    return fault.cause if isinstance(fault, EmbeddingUnavailable) else fault.format_message()


def _forget_deleted_keys(library: LibraryWriter) -> None:
    keys = library.list_deleted_keys()
    if keys:
        library.forget_deleted_keys(keys)


def delete_old_vectors(library: LibraryWriter, open_index: Callable[[str], VectorWriter]) -> None:
    """Delete the vectors of the model that was replaced; a killed run may have left them."""
    old = library.get_value(OLD_VECTORS)
    if old is not None:
        if old != library.get_value(EMBEDDING_VERSION):
            open_index(old).clear()
        library.set_value(OLD_VECTORS, None)


class VectorSync:
    """Opens the vector index when a run needs it, and leaves it consistent with the library."""

    def __init__(
        self,
        library: LibraryWriter,
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
        self._verifies_all = False
        self._is_consistent = False
        self._lost = 0
        self._reason: str | None = None

    @property
    def version(self) -> str | None:
        """The embedding version of the knowledge base, None before its first vectors."""
        return self._library.get_value(EMBEDDING_VERSION)

    def build_summary(self) -> EmbeddingSummary:
        """Return the counts of the run so far."""
        fault = self.fault
        return EmbeddingSummary(
            version=self.version,
            reason=self._reason,
            embedded=sum(self.counts.embedded.values()),
            reused=sum(self.counts.copied.values()),
            pending=self._library.count_pending(),
            unsupported=self.counts.unsupported,
            lost=self._lost,
            unavailable=None if fault is None else describe_fault(fault),
            hint=None if fault is None else fault.format_hint(),
        )

    def set_model(self, embedder: Embedder, *, reason: str | None = None) -> None:
        """Make this the model of a knowledge base without vectors; `reason` says why.

        Raises:
            EmbeddingMismatch: The vectors come from another model.
        """
        stored = self.version
        if stored == embedder.version:
            return
        if stored is not None:
            raise EmbeddingMismatch(expected=embedder.version, found=stored)
        self._library.set_value(EMBEDDING_REASON, reason)
        self._library.set_value(EMBEDDING_VERSION, embedder.version)
        self._reason = reason

    def prepare_index(self) -> None:
        """Let the index load what writing needs while files are read."""
        version = self.version
        if version is not None:
            self._load_index(version).prepare()

    def check_files(self) -> None:
        """Find lost and damaged vectors when the files of the index changed since the last run.

        Their chunks become pending. An index whose files are unchanged is not read.
        """
        version = self.version
        if version is None:
            return
        delete_old_vectors(self._library, self._open_index)
        if self._library.get_value(VECTOR_FILES) != self._load_index(version).describe_files():
            self.verify_all()
            self._open()
        # Since the last run has finished, nobody has written to the index.
        self._is_consistent = self._library.get_value(VECTORS_DIRTY) is None

    def verify_all(self) -> None:
        """Make this run compare the index with the library row by row."""
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
                self.fault = chunk_embedder.fault or self.fault
            self._finish()

    def _open(self) -> ChunkEmbedder:
        """Open the index once; reconcile it first unless the last run left it consistent."""
        if self._chunk_embedder is None:
            version = self.version
            assert version is not None, "vectors are opened after the model was set"
            self._context.reporter.send_heartbeat("vectors")
            vectors = self._load_index(version)
            self._library.set_value(VECTORS_DIRTY, "1")
            if not self._is_consistent:
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
            self._lost = reconcile(self._library, vectors, version, verify=self._verifies_all)
        except StoreCorrupt:
            # Every vector comes from a chunk, so only the time to compute it is lost.
            vectors.clear()
            self._lost = reconcile(self._library, vectors, version)
        if self._lost:
            count = f"{self._lost:,} vector" + ("" if self._lost == 1 else "s")
            message = f"lost or damaged, computed again: {count}"
            self._context.reporter.send(ProgressKind.HEARTBEAT, phase="vectors", message=message)

    def _finish(self) -> None:
        """Delete the rows of chunks that were removed since the index was opened, and compact."""
        assert self._vectors is not None, "the index was opened"
        deleted = self._library.list_deleted_keys()
        if deleted:
            self._vectors.delete(deleted)
            self._library.forget_deleted_keys(deleted)
        self._vectors.maintain()
        self._library.set_value(VECTOR_FILES, self._vectors.describe_files())
        self._library.set_value(VECTORS_DIRTY, None)
