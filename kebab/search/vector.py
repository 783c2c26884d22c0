"""Retrieves passages by vectors: embeds a query and searches the vector index."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.core.chunks import NO_BACKGROUND, CosineBackground, Key, KeyedScore, ModelProfile
from kebab.core.queries import Mode
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.search import lexical
from kebab.search.query_parser import ParsedQuery
from kebab.text.language import detect_question_language
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import QueryCache, SqliteReader

_NAMESPACE = "query_vector:{}"
"""The part of the cache with the vectors of a model, by its version."""
_FLOAT_BYTES = 4

_SPARE = 32
"""How many more rows than needed are searched for, because some do not count."""

DEGRADING: tuple[type[Signal], ...] = (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
"""Errors that disable the channel without failing a hybrid search."""


class VectorMatches(Struct, frozen=True, kw_only=True):
    """The nearest chunks in order, every cosine that was computed, and the usual cosines."""

    nearest: Sequence[KeyedScore]
    cosines: dict[Key, float]
    model: ModelProfile
    from_cache: bool
    background: CosineBackground = NO_BACKGROUND
    note: DegradedChannel | None = None
    """Why the nearest passages may be wrong."""


class VectorRetriever(Struct, frozen=True, kw_only=True):
    """The vector channel of one library; index and model are loaded on first use."""

    library: "SqliteReader"
    vectors: "Callable[[], Vectors | None]"
    embedder: "Callable[[], Embedder]"
    cache: "QueryCache | None" = None

    def prepare(self, parsed: ParsedQuery) -> None:
        """Start loading the model if the query needs it; errors are reported by `retrieve`."""
        with suppress(*DEGRADING):
            embedder, text = self.embedder(), parsed.plain
            namespace = _NAMESPACE.format(embedder.version)
            if not embedder.supports(text) or (
                self.cache is not None and self.cache.get(namespace, text)
            ):
                return
            if (vectors := self.vectors()) is not None and vectors.count():
                embedder.prepare()

    def retrieve(
        self, parsed: ParsedQuery, candidates: Collection[Key], limit: int, mode: Mode
    ) -> VectorMatches | DegradedChannel:
        """Return the nearest chunks and the cosines of the candidates, or why there are none.

        Raises:
            DependencyMissing: The mode is `vector`, and a library cannot be loaded.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            IoError: The mode is `vector`, and the file system failed.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        try:
            embedder = self.embedder()
            if not embedder.supports(parsed.plain):
                other = embedder.profile.alternative
                reason = "the embedding model does not know the script of this query"
                return build_degraded(reason, f"kebab model use {other}" if other else None)
            vectors = self.vectors()
            if vectors is None or not vectors.count():
                return build_degraded("no passage is embedded yet", "kebab ingest")
            query, from_cache = embed_query(self.cache, embedder, parsed.plain)
            allowed = (
                lexical.find_holding(self.library, parsed.filters, parsed.required, "AND")
                if parsed.required
                else self.library.list_allowed_keys(parsed.filters)
            )
            excluded = frozenset(
                lexical.find_holding(self.library, parsed.filters, parsed.excluded, "OR")
            )
            found = find_nearest(self.library, vectors, query, limit, allowed, excluded)
            cosines = dict(found)
            if missing := [key for key in candidates if key not in cosines]:
                cosines |= vectors.compute_cosines(query, missing)
            return VectorMatches(
                nearest=found,
                cosines=cosines,
                model=embedder.profile,
                from_cache=from_cache,
                background=vectors.measure_background(query),
                note=describe_unknown_language(embedder.profile, parsed.plain),
            )
        except DEGRADING as signal:
            if mode is Mode.VECTOR:
                raise
            return describe_loss(signal)


def embed_query(
    cache: "QueryCache | None", embedder: "Embedder", text: str
) -> tuple["Vector", bool]:
    """Return the unit vector of a query, and whether it comes from the cache."""
    namespace = _NAMESPACE.format(embedder.version)
    raw = cache.get(namespace, text) if cache is not None else None
    if raw is not None and len(raw) == embedder.dimension * _FLOAT_BYTES:
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        return np.frombuffer(raw, dtype="<f4").astype(np.float32), True
    vector = embedder.embed_query(text)
    if cache is not None:
        cache.put(namespace, text, vector.astype("<f4").tobytes())
    return vector, False


def find_nearest(
    library: "SqliteReader",
    vectors: "Vectors",
    query: "Vector",
    limit: int,
    allowed: Sequence[Key] | None = None,
    excluded: Collection[Key] = (),
) -> list[KeyedScore]:
    """Return the nearest chunks that the snapshot holds, of all or of those that are allowed.

    A row that the snapshot does not hold (a chunk deleted or written by another process) or that
    the query excludes does not count. The search is widened until the list is full or the index
    is exhausted.
    """
    wanted = limit + _SPARE
    while True:
        rows = vectors.find_nearest(query, wanted, allowed)
        live = library.find_committed_keys([key for key, _ in rows]).difference(excluded)
        found = [(key, cosine) for key, cosine in rows if key in live]
        if len(found) >= limit or len(rows) < wanted:
            return found[:limit]
        wanted *= 2


def describe_unknown_language(model: ModelProfile, text: str) -> DegradedChannel | None:
    """Return that a model does not know the language of a query, and which one does."""
    if model.alternative is None or model.language_trust.english == model.language_trust.other:
        return None
    language = detect_question_language(text)
    if language.code in {None, "en"}:
        return None
    reason = f"the embedding model knows {model.languages}, and this query is {language.name}"
    note = build_degraded(reason, f"kebab model use {model.alternative}")
    return msgspec.structs.replace(note, partial=True)


def describe_loss(signal: Signal) -> DegradedChannel:
    """Return why the vector channel failed; a model that nobody chose yet has no name to tell."""
    reason = signal.format_message()
    if isinstance(signal, EmbeddingUnavailable) and signal.model == AUTO:
        reason = signal.cause
    return build_degraded(reason, signal.format_hint())


def build_degraded(reason: str, hint: str | None = None) -> DegradedChannel:
    """Return why the vector channel did not answer, and the command that restores it."""
    return DegradedChannel(channel="vector", reason=reason, hint=hint)
