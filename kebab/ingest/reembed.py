"""Changes the embedding model of a knowledge base while searches go on with the old vectors.

The new vectors are collected in a table of their own. One transaction then makes them the vectors
of the library, and the old table is deleted. A run that was killed is continued by the next one:
what it has collected counts as long as the index has not changed since.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from kebab.core.chunks import PendingChunk
from kebab.core.documents import EMBEDDING_VERSION, NEXT_VECTORS
from kebab.core.ids import Key
from kebab.core.ports import LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import StoreCorrupt
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.vectors import (
    BATCH_CHUNKS,
    BatchEmbedder,
    VectorSync,
    delete_other_vectors,
    find_unfinished_change,
)
from kebab.wire.ingest import EmbeddingSummary

if TYPE_CHECKING:
    from kebab.core.chunks import Vector


def reembed(
    library: LibraryWriter,
    open_index: Callable[[str], VectorWriter],
    model: LoadedModel,
    context: RunContext,
) -> EmbeddingSummary:
    """Make this the model of the knowledge base; after a cancel the old one stays.

    `pending` of the summary counts the passages that the new model has not embedded.

    Raises:
        TimedOut: A passage takes too long; what was collected is kept.
    """
    ended = ProgressKind.ABORTED
    try:
        collected = find_unfinished_change(library.get_value(NEXT_VECTORS))
        if collected is not None and collected != model.embedder.version:
            library.set_value(NEXT_VECTORS, None)
        if library.get_value(EMBEDDING_VERSION) in {None, model.embedder.version}:
            sync = VectorSync(library, open_index, context)
            sync.set_model(model.embedder, reason=model.reason)
            sync.reconcile()
            sync.update(model.embedder)
            summary = sync.build_summary()
        else:
            summary = _ModelChange(library, open_index, model, context).run()
        library.checkpoint()
        if not context.cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return summary


class _ModelChange(BatchEmbedder):
    """Collects the vectors of another model, and makes them those of the library."""

    def __init__(
        self,
        library: LibraryWriter,
        open_index: Callable[[str], VectorWriter],
        model: LoadedModel,
        context: RunContext,
    ) -> None:
        super().__init__(library, open_index(model.embedder.version), context)
        self._model = model
        self._embedder = model.embedder
        self._unsupported: set[Key] = set()
        self._keys: dict[str, Key] = {}
        """A chunk with a new vector by embed hash: equal texts are embedded once."""
        self._embedded = self._copied = 0

    def run(self) -> EmbeddingSummary:
        """Embed every chunk, then change the model; a cancel keeps what was collected."""
        collected = self._load_collected()
        total = self._library.count_all_chunks()
        after = Key(0)
        try:
            while not self._context.cancel.requested:
                chunks = self._library.list_chunks(after, BATCH_CHUNKS)
                if not chunks:
                    break
                self._embed_batch(chunks, collected, total)
                after = chunks[-1].key
        finally:
            self._flush()
        if self._done == total:  # also when the cancel came with the last passage
            self._vectors.save()
            self._library.replace_vectors(
                self._embedder.version, self._model.reason, self._unsupported
            )
            self._library.sync()  # or else a cut could leave neither the old nor the new vectors
            delete_other_vectors(self._library, self._vectors, self._embedder.version)
        return EmbeddingSummary(
            version=self._library.get_value(EMBEDDING_VERSION),
            embedded=self._embedded,
            reused=self._copied,
            pending=total - self._done,
            unsupported=len(self._unsupported),
        )

    def _load_collected(self) -> set[Key]:
        """Return the chunks that an interrupted run has embedded; without one begin anew."""
        marker = f"{self._embedder.version} {self._library.get_revision()}"
        if self._library.get_value(NEXT_VECTORS) == marker:
            return self._check_collected()
        self._vectors.clear()
        self._library.set_value(NEXT_VECTORS, marker)
        self._library.sync()
        return set()

    def _check_collected(self) -> set[Key]:
        """Return the chunks whose collected vectors can be read; the others are computed again."""
        try:
            damaged = self._vectors.find_damaged_keys()
        except StoreCorrupt:
            self._vectors.rebuild()
            damaged = self._vectors.find_damaged_keys()
        self._vectors.delete(damaged)
        self._vectors.save()
        return set(map(Key, self._vectors.list_keys(verify=True)))

    def _embed_batch(self, chunks: list[PendingChunk], collected: set[Key], total: int) -> None:
        """Embed the chunks of a batch that have no vector yet, each text once."""
        groups: defaultdict[str, list[PendingChunk]] = defaultdict(list)
        for chunk in chunks:
            if chunk.key in collected:
                self._keys.setdefault(chunk.embed_hash, chunk.key)
            elif not self._embedder.supports(chunk.text):
                self._unsupported.add(chunk.key)
            else:
                groups[chunk.embed_hash].append(chunk)
        self._report(len(chunks) - sum(map(len, groups.values())), total)
        # Texts that earlier batches have embedded get copies of their vectors.
        known = {embed_hash: self._keys[embed_hash] for embed_hash in groups.keys() & self._keys}
        if known:
            self._flush()
            vectors = self._vectors.get(set(known.values()))
            for embed_hash, key in known.items():
                if (vector := vectors.get(key)) is not None:
                    group = groups.pop(embed_hash)
                    super()._add_group(group, vector)
                    self._copied += len(group)
                    self._report(len(group), total)
        self._embed_groups(list(groups.values()), self._embedder, total)

    def _add_group(self, group: list[PendingChunk], vector: "Vector") -> None:
        super()._add_group(group, vector)
        self._keys[group[0].embed_hash] = group[0].key
        self._embedded += 1
        self._copied += len(group) - 1
