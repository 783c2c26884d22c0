"""Searches the vectors of a published base without a copy of them.

The binary index is here and estimates every cosine. Only the vectors of the best passages are read
from the store, and their cosines are exact.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, KeyedScore, remove_language
from kebab.core.ids import Key
from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance.archive import unpack_rows
from kebab.store.lance.binary_index import BinaryIndex, open_binary_index
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.vectors import MappedVectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix, Vector

EXACT = 256
"""How many vectors are read to compare a query with the nearest, and with the best by words."""
_MOST_KEPT = 10_000


class RemoteIndex(ExactIndex):
    """The `Vectors` of a snapshot whose rows `read` returns by their positions.

    Cosines beyond the best `EXACT` are estimates.
    """

    def __init__(
        self,
        signs: BinaryIndex,
        dimension: int,
        axes: "Matrix | None",
        read: Callable[[Sequence[int]], list[bytes]],
    ) -> None:
        super().__init__(signs.keys, [], axes, signs)
        self._index, self._dimension, self._read = signs, dimension, read
        self._kept: dict[int, Vector] = {}
        self._estimated: tuple[Vector, NDArray[np.float32]] | None = None

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the keys of highest cosine, of which the best are exact."""
        import numpy as np

        estimates = self._estimate(query)
        found = np.arange(len(estimates)) if allowed is None else self._find_positions(allowed)
        best = found[np.argsort(-estimates[found], kind="stable")[: max(0, limit)]]
        cosines = self._compare(query, best)
        return sorted(cosines.items(), key=lambda one: (-one[1], one[0]))

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosines of those of these keys that the index holds, the first ones exact."""
        import numpy as np

        wanted = np.fromiter(keys, np.int64, len(keys))
        positions = np.searchsorted(self._keys, wanted)
        inside = positions < len(self._keys)
        positions = positions[inside][self._keys[positions[inside]] == wanted[inside]]
        return self._compare(query, positions)

    def _compare(self, query: "Vector", positions: "NDArray[np.intp]") -> dict[Key, float]:
        import numpy as np

        cosines = self._estimate(query)[positions].astype(np.float64)
        exact = [
            place
            for place, one in enumerate(positions.tolist())
            if place < EXACT or one in self._kept
        ]
        if exact:
            rows = remove_language(self._load_vectors(positions[exact]), self._axes)
            cosines[exact] = np.vecdot(rows, remove_language(query, self._axes))
        rounded = np.clip(np.round(cosines, 6), -1.0, 1.0)
        return dict(zip(self._keys[positions].tolist(), rounded.tolist(), strict=True))

    def _estimate(self, query: "Vector") -> "NDArray[np.float32]":
        if self._estimated is None or self._estimated[0] is not query:
            bare = remove_language(query, self._axes)
            self._estimated = query, self._index.estimate_cosines(bare)
        return self._estimated[1]

    def measure_background(self, query: "Vector") -> CosineBackground:
        """Return the mean and the deviation of the cosines, without what estimates add to it."""
        estimates = self._estimate(query)
        if not len(estimates):
            return NO_BACKGROUND
        noise = self._index.measure_noise(remove_language(query, self._axes))
        deviation = max(float(estimates.var()) - noise, 0.0) ** 0.5
        return CosineBackground(len(estimates), float(estimates.mean()), deviation)

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return the vectors of those of these keys that the index holds."""
        found = self._find_positions(keys)
        return dict(zip(self._keys[found].tolist(), self._load_vectors(found), strict=True))

    def _load_vectors(self, rows: "NDArray[np.intp]") -> "Matrix":
        import numpy as np

        missing = [one for one in rows.tolist() if one not in self._kept]
        if missing:
            keys, matrix = unpack_rows(self._read(missing), self._dimension)
            if keys.tolist() != self._keys[missing].tolist():
                raise StoreCorrupt(path="vectors", cause="its vectors are of other passages")
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
                return self._load_vectors(rows)
            self._kept.update(zip(missing, matrix, strict=True))
        found = [self._kept[one] for one in rows.tolist()]
        return np.array(found, np.float32).reshape(len(found), self._dimension)


class RemoteVectors(MappedVectors):
    """The vectors of a snapshot that is not on this machine."""

    def mount(self, signs: Path, read: Callable[[Sequence[int]], list[bytes]]) -> None:
        """Use a binary index, and rows that `read` returns by their positions."""
        self._signs, self._read = signs, read

    def load_index(self) -> ExactIndex | None:
        """Return the index; None without vectors.

        Raises:
            StoreCorrupt: The binary index cannot be used with the model.
        """
        if self._loaded is None and self._signs.exists():
            axes = self._load_axes()
            signs = open_binary_index(self._signs, self._dimension, axes)
            if signs is None:
                cause = "it was made with another version of the model"
                raise StoreCorrupt(path=str(self._signs), cause=cause)
            self._loaded = RemoteIndex(signs, self._dimension, axes, self._read)
        return self._loaded
