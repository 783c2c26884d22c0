"""Nearness by meaning: how the vectors of one document match those of others.

A document is as near as the passages asked with are, on average, to their best matches in it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kebab.core.ids import DocId, Key
from kebab.core.model_profile import CosineScale
from kebab.core.ports import LibraryReader, Vectors
from kebab.core.queries import Filters, StoredChunk
from kebab.errors.system import translate_import_errors
from kebab.search import vector

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix

_PROBES = 32
"""The most passages of a document that are asked with; of longer ones every so many-th."""

_NEAREST = 100
"""How many passages each probe finds."""

_CANDIDATES = 100
"""How many documents are measured in full, of those that probes or words find."""

_DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """The vectors of the library, and the scale of their cosines."""

    vectors: Vectors
    scale: CosineScale


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSimilarity:
    """How near a document is, from 0 to 1, and the two passages that match best."""

    share: float
    own: Key
    other: Key
    cosine: float


class DocumentVectors:
    """What the vectors say of one document."""

    def __init__(
        self, library: LibraryReader, space: VectorSpace, chunks: Sequence[StoredChunk]
    ) -> None:
        self._library = library
        self._space = space
        self._own = frozenset(chunk.key for chunk in chunks)
        held = sorted(library.find_committed_keys(self._own))
        step = max(1, -(-len(held) // _PROBES))
        self._keys, self._rows = self._stacked(held[::step])

    @property
    def known(self) -> bool:
        """Whether any passage of the document has a vector."""
        return bool(self._keys)

    def nearness(self, filters: Filters, others: Iterable[DocId]) -> dict[DocId, VectorSimilarity]:
        """Return how near the nearest documents are, and the first of some others."""
        if not self.known:
            return {}
        wanted = dict.fromkeys([*self._close(filters), *list(others)[:_CANDIDATES]])
        found = {doc: self._measured(doc) for doc in wanted}
        return {doc: one for doc, one in found.items() if one is not None}

    def _close(self, filters: Filters) -> list[DocId]:
        """Return the documents of the passages that are nearest to the probes."""
        within = vector.SearchScope(self._library.list_allowed_keys(filters), self._own)
        worth: dict[Key, float] = defaultdict(float)
        for row in self._rows:
            near = vector.find_nearest(self._library, self._space.vectors, row, _NEAREST, within)
            for key, cosine in near:
                worth[key] += cosine
        totals: dict[DocId, float] = defaultdict(float)
        for key, doc in self._library.find_doc_ids(list(worth)).items():
            totals[doc] += worth[key]
        return sorted(totals, key=lambda doc: (-totals[doc], doc))[:_CANDIDATES]

    def _measured(self, doc: DocId) -> VectorSimilarity | None:
        """Return how near a document is; None when it has no vectors."""
        keys, rows = self._stacked(self._library.list_allowed_keys(Filters(doc_id=doc)) or [])
        if not keys:
            return None
        cosines = (self._rows @ rows.T).clip(-1.0, 1.0)
        shares = [self._space.scale.share(best) for best in cosines.max(axis=1).tolist()]
        probe, at = divmod(int(cosines.argmax()), len(keys))
        return VectorSimilarity(
            share=sum(shares) / len(shares),
            own=self._keys[probe],
            other=keys[at],
            cosine=round(float(cosines[probe, at]), _DECIMALS),
        )

    def _stacked(self, keys: Collection[Key]) -> "tuple[list[Key], Matrix]":
        """Return those of these chunks that have a vector, and their vectors in rows."""
        with translate_import_errors("vectors", "numpy"):
            import numpy as np

        found = self._space.vectors.get(keys)
        rows = np.stack(list(found.values())) if found else np.empty((0, 0), np.float32)
        return list(found), rows
