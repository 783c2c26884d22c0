"""Remembered query vectors: paging and repeated questions load no model."""

from typing import TYPE_CHECKING

from kebab.core.ports import AnswerCache, Embedder
from kebab.errors.dependency import needed

if TYPE_CHECKING:
    from kebab.core.vector import Vector

_FLOAT_BYTES = 4
_ANY_REVISION = 0
"""The vector of a question does not depend on the index."""


class QueryVectors:
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
    with needed("embedding", "numpy"):
        import numpy as np

    if len(raw) != dimension * _FLOAT_BYTES:
        return None
    return np.frombuffer(raw, dtype="<f4").astype(np.float32)
