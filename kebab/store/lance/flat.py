"""Exact search: every vector is compared, in one product of matrix and vector."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunk import KeyedScore
from kebab.core.ids import Key
from kebab.store.lance.sidecar import DEAD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.vector import Matrix, Vector
    from kebab.store.lance.sidecar import Keys

    Positions: TypeAlias = NDArray[np.intp]

_DECIMALS = 6
_GATHER_BELOW = 4


class FlatIndex:
    """Rows of unit vectors with their keys; of repeated keys the last row counts."""

    def __init__(self, keys: "Keys", matrix: "Matrix") -> None:
        import numpy as np

        live = np.flatnonzero(keys != DEAD)
        order = live[np.argsort(keys[live], kind="stable")]
        ordered = keys[order]
        last = np.ones(len(ordered), np.bool_)
        last[:-1] = ordered[1:] != ordered[:-1]
        self._keys = ordered[last]
        self._rows = order[last]
        self._matrix = matrix

    def count(self) -> int:
        """Return how many keys the index holds."""
        return len(self._keys)

    def nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None
    ) -> list[KeyedScore]:
        """Return the keys of highest cosine, ties by key."""
        import numpy as np

        found = np.arange(len(self._keys)) if allowed is None else self._positions(allowed)
        if limit <= 0 or len(found) == 0:
            return []
        keys, scores = self._keys[found], self._scores(query, found)
        if limit < len(keys):
            floor = np.partition(scores, len(keys) - limit)[len(keys) - limit]
            best = scores >= floor
            keys, scores = keys[best], scores[best]
        order = np.lexsort((keys, -scores))[:limit]
        return [(Key(int(keys[at])), float(scores[at])) for at in order]

    def cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these keys that the index holds."""
        found = self._positions(keys)
        scores = self._scores(query, found).tolist()
        return dict(zip(self._keys[found].tolist(), scores, strict=True))

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return copies of the vectors of those of these keys that the index holds."""
        import numpy as np

        found = self._positions(keys)
        vectors = np.array(self._matrix[self._rows[found]], np.float32)
        return dict(zip(self._keys[found].tolist(), vectors, strict=True))

    def _positions(self, keys: Collection[Key]) -> "Positions":
        import numpy as np

        wanted = np.unique(np.fromiter(keys, np.int64, len(keys)))
        at = np.searchsorted(self._keys, wanted)
        inside = at < len(self._keys)
        at, wanted = at[inside], wanted[inside]
        found: Positions = at[self._keys[at] == wanted]
        return found

    def _scores(self, query: "Vector", found: "Positions") -> "NDArray[np.float64]":
        """Return cosines, rounded so that equal vectors score equally wherever they stand."""
        import numpy as np

        rows = self._rows[found]
        if len(rows) * _GATHER_BELOW < len(self._matrix):
            scores = self._matrix[rows] @ query
        else:
            scores = (self._matrix @ query)[rows]
        wide: NDArray[np.float64] = np.asarray(scores, np.float64)
        return np.clip(np.round(wide, _DECIMALS), -1.0, 1.0)
