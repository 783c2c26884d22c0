"""Retrieves passages by vectors: the semantic channel."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.model_profile import ModelProfile
from kebab.core.ports import AnswerCache, Embedder, LibraryReader, Vectors
from kebab.core.queries import Mode
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    StoreCorrupt,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.search import lexical
from kebab.search.query_parser import ParsedQuery
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.core.chunks import Vector

_FLOAT_BYTES = 4
_ANY_REVISION = 0
"""The vector of a question does not depend on the index."""


class QueryVectorCache:
    """Embeds questions, each once as long as the cache remembers."""

    def __init__(self, cache: AnswerCache | None) -> None:
        self._cache = cache

    def remembers(self, embedder: Embedder, text: str) -> bool:
        """Return whether the vector of a question is had without the model."""
        cache = self._cache
        return cache is not None and bool(cache.get(_namespace(embedder), text, _ANY_REVISION))

    def embed(self, embedder: Embedder, text: str) -> tuple["Vector", bool]:
        """Return the unit vector of a question, and whether it was remembered."""
        namespace = _namespace(embedder)
        if self._cache is not None and (raw := self._cache.get(namespace, text, _ANY_REVISION)):
            found = _vector(raw, embedder.dimension)
            if found is not None:
                return found, True
        vector = embedder.embed_query(text)
        if self._cache is not None:
            self._cache.put(namespace, text, _ANY_REVISION, vector.astype("<f4").tobytes())
        return vector, False


def _namespace(embedder: Embedder) -> str:
    return f"query_vector:{embedder.version}"


def _vector(raw: bytes, dimension: int) -> "Vector | None":
    """Return stored bytes as a vector; None when they are not one of this dimension."""
    with translate_import_errors("embedding", "numpy"):
        import numpy as np

    if len(raw) != dimension * _FLOAT_BYTES:
        return None
    return np.frombuffer(raw, dtype="<f4").astype(np.float32)


_SPARE = 32
_LOST: tuple[type[Signal], ...] = (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    StoreCorrupt,
    TimedOut,
)
"""What takes the channel away without ending a hybrid search."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Which chunks may answer: `allowed` in rising order (None: all), without the excluded."""

    allowed: Sequence[Key] | None = None
    excluded: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMatches:
    """What the channel found: the nearest chunks in order, and every cosine that is known."""

    near: Sequence[KeyedScore]
    cosines: dict[Key, float]
    model: ModelProfile
    from_cache: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRetriever:
    """The channel of one knowledge base; its parts are built when they are first needed."""

    library: LibraryReader
    vectors: Callable[[], Vectors | None]
    embedder: Callable[[], Embedder]
    query_vectors: QueryVectorCache

    def prepare(self, question: ParsedQuery) -> None:
        """Let the model load beside the search by words; what goes wrong shows when it is asked."""
        with suppress(*_LOST):
            embedder, text = self.embedder(), question.plain
            wanted = embedder.supports(text) and not self.query_vectors.remembers(embedder, text)
            if wanted and (vectors := self.vectors()) is not None and vectors.count():
                embedder.prepare()

    def ask(
        self, question: ParsedQuery, candidates: Collection[Key], limit: int, mode: Mode
    ) -> VectorMatches | DegradedChannel:
        """Return the nearest chunks, with the cosines of the candidates; or why there are none.

        Raises:
            DependencyMissing: Vectors were demanded, and a library cannot be loaded.
            EmbeddingUnavailable: Vectors were demanded, and there is no model to ask with.
            IoError: Vectors were demanded, and the file system refused.
            StoreCorrupt: Vectors were demanded and cannot be read.
            TimedOut: Vectors were demanded, and the model took too long.
        """
        try:
            return self._ask(question, candidates, limit)
        except _LOST as signal:
            if mode is Mode.VECTOR:
                raise
            return build_degraded(signal.format_message(), signal.format_hint())

    def _ask(
        self, question: ParsedQuery, candidates: Collection[Key], limit: int
    ) -> VectorMatches | DegradedChannel:
        embedder = self.embedder()
        if not embedder.supports(question.plain):
            return build_degraded(f"{embedder.version} does not know the script of this query")
        vectors = self.vectors()
        if vectors is None or not vectors.count():
            return build_degraded("no passage has a vector yet", "kebab ingest")
        query, remembered = self.query_vectors.embed(embedder, question.plain)
        near = find_nearest(self.library, vectors, query, limit, find_scope(self.library, question))
        return VectorMatches(
            near=near,
            cosines=_cosines(vectors, query, near, candidates),
            model=embedder.profile,
            from_cache=remembered,
        )


def find_scope(library: LibraryReader, question: ParsedQuery) -> SearchScope:
    """Return which chunks pass the filters and hold every required phrase but nothing excluded."""
    held = lexical.find_required(library, question)
    allowed = library.list_allowed_keys(question.filters) if held is None else held
    return SearchScope(allowed, frozenset(lexical.find_excluded(library, question)))


def find_nearest(
    library: LibraryReader, vectors: Vectors, query: "Vector", limit: int, within: SearchScope
) -> list[KeyedScore]:
    """Return the nearest chunks of a scope that the snapshot holds.

    A row that the snapshot does not hold (a chunk deleted or written by another process) or that
    the query excludes takes no place: the search is widened until the list is full or the index
    has no more.
    """
    wanted = limit + _SPARE
    while True:
        near = vectors.find_nearest(query, wanted, within.allowed)
        live = library.find_committed_keys([key for key, _ in near]) - within.excluded
        found = [(key, cosine) for key, cosine in near if key in live]
        if len(found) >= limit or len(near) < wanted:
            return found[:limit]
        wanted *= 2


def _cosines(
    vectors: Vectors, query: "Vector", near: Sequence[KeyedScore], candidates: Collection[Key]
) -> dict[Key, float]:
    """Return the cosine of every chunk that is near or a candidate, if it has a vector."""
    known = dict(near)
    missing = [key for key in candidates if key not in known]
    return {**known, **(vectors.compute_cosines(query, missing) if missing else {})}


def build_degraded(reason: str, hint: str | None = None) -> DegradedChannel:
    """Return that the channel could not answer, and what would bring it back."""
    return DegradedChannel(channel="vector", reason=reason, hint=hint)
