"""Contains the exact search over mapped vectors, and the choice of what it compares."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, KeyedScore, remove_language
from kebab.core.ids import Key, Keys
from kebab.store.lance.binary_index import ROWS_AT_ONCE, BinaryIndex, write_binary_index
from kebab.store.lance.key_file import LARGE_ROWS, TOMBSTONE, advise_pages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.core.chunks import Matrix, Vector
    from kebab.store.lance.key_file import KeyArray

    Positions: TypeAlias = NDArray[np.intp]
    Scores: TypeAlias = NDArray[np.float32]

_DECIMALS = 6
_STEP = 10.0**-_DECIMALS
_GATHER_BELOW = 4

_LEAST_SQUARE = 1e-6
"""No vector is taken for shorter, so that a damaged one divides nothing by zero."""

_SAMPLE = 2000
"""How many evenly spaced vectors, about, stand for all of them."""

_CANDIDATES, _LEAST_CANDIDATES = 4, 4096
"""How many candidates the binary index chooses for each row that is wanted, and at least.

For a thousand wanted rows of a million they hold all of the ten nearest and .93 of the thousand
(`docs/speed.md`).
"""

_MAX_BESIDE, _MAX_GONE = 1 / 16, 1 / 4
"""The binary index is built anew when more vectors, by its size, were added or are gone."""


class ExactIndex:
    """The `Vectors` of one state of the table; of repeated keys the last row counts.

    The vectors come in parts, in the order of the keys. With `axes`, cosines compare what
    `remove_language` leaves of two vectors. The passages keep their stored vectors: only the length
    of what is left of each is computed.

    With `signs` the nearest are sought among its candidates and the vectors that it does not know.
    Their cosines are exact.
    """

    def __init__(
        self,
        keys: "KeyArray",
        parts: "Sequence[Matrix]",
        axes: "Matrix | None" = None,
        signs: BinaryIndex | None = None,
    ) -> None:
        self._parts = parts
        self._stored = len(keys)
        self._axes = axes
        self._lengths: Scores | None = None
        self._keys, self._rows = _sort_live_keys(keys)
        self._last: tuple[Vector, Scores] | None = None
        self._signs = signs
        self._beside: Positions | None = None
        self._sampled: Matrix | None = None
        self._is_asked = False
        self._advise("RANDOM" if signs else "NORMAL")
        self._whole = self._stored <= LARGE_ROWS
        """Whether all vectors are held in memory: not for the first query of a large index."""

    @property
    def is_approximate(self) -> bool:
        """Whether the nearest are sought by a binary index."""
        return self._signs is not None

    def count(self) -> int:
        """Return how many keys the index holds."""
        return len(self._keys)

    def find_nearest(
        self, query: "Vector", limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the keys of highest cosine, ties by key."""
        import numpy as np

        found = None if allowed is None else self._find_positions(allowed)
        count = len(self._keys if found is None else found)
        if limit <= 0 or count == 0:
            return []
        wanted = max(limit * _CANDIDATES, _LEAST_CANDIDATES)
        if self._signs is not None and wanted * _GATHER_BELOW < count:
            found = self._find_candidates(self._signs, query, wanted, found)
        keys = self._keys if found is None else self._keys[found]
        scores = self._score_all(query) if found is None else self._score(query, found)
        if limit < len(keys):
            floor = np.partition(scores, len(keys) - limit)[len(keys) - limit]
            # A score that rounds to the same as the last one may win by its key.
            best = np.flatnonzero(scores >= floor - _STEP)
            keys, scores = keys[best], scores[best]
        cosines = _round_cosines(scores)
        order = np.lexsort((keys, -cosines))[:limit]
        return list(zip(keys[order].tolist(), cosines[order].tolist(), strict=True))

    def _find_candidates(
        self, signs: BinaryIndex, query: "Vector", wanted: int, found: "Positions | None"
    ) -> "Positions":
        """Return the positions that may hold the nearest, of all or of those that were found."""
        import numpy as np

        allowed = None if found is None else self._keys[found]
        near = signs.find_candidates(remove_language(query, self._axes), wanted, allowed)
        beside = self._list_beside(signs)
        if found is not None:
            beside = np.intersect1d(beside, found, assume_unique=True)
        # The first query reads single pages of a large file, the next ones keep them.
        self._whole = self._whole or self._is_asked
        self._is_asked = True
        candidates: Positions = np.union1d(self._locate(near), beside)
        return candidates

    def _list_beside(self, signs: BinaryIndex) -> "Positions":
        """Return the positions that the binary index does not know."""
        import numpy as np

        if self._beside is None:
            known = np.isin(self._keys, signs.keys, assume_unique=True)
            self._beside = np.flatnonzero(~known)
        return self._beside

    def has_fresh_binary_index(self) -> bool:
        """Return whether there is an intact binary index that knows most of the vectors."""
        if self._signs is None or not self._signs.is_intact():
            return False
        size, beside = len(self._signs.keys), len(self._list_beside(self._signs))
        gone = size - (len(self._keys) - beside)
        return beside <= size * _MAX_BESIDE and gone <= size * _MAX_GONE

    def _advise(self, advice: str) -> None:
        for part in self._parts:
            advise_pages(part, advice)

    def find_binary_fault(self) -> str:
        """Compare the binary index with all vectors; return its fault, else an empty text."""
        import numpy as np

        signs = self._signs
        if signs is None or not signs.is_intact():
            return "is damaged"
        self._advise("NORMAL")
        positions = np.flatnonzero(np.isin(self._keys, signs.keys, assume_unique=True))
        places = np.searchsorted(signs.keys, self._keys[positions])
        for start in range(0, len(positions), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            if not signs.agrees(places[part], self._load_bare(positions[part])):
                return "differs from the vectors"
        return ""

    def write_binary(
        self,
        path: Path,
        tick: Callable[[int, int], object] = lambda *_: None,
        keys: "Keys | None" = None,
    ) -> None:
        """Write the binary index of all vectors, or of those of rising keys that the index holds.

        Raises:
            OSError: The file system refused.
        """
        import numpy as np

        self._advise("NORMAL")
        count = len(self._keys)
        chosen = np.arange(count) if keys is None else self._locate(np.array(keys, np.int64))
        write_binary_index(
            path,
            self._keys[chosen],
            self._load_bare(chosen[:: max(1, len(chosen) // _SAMPLE)]),
            lambda start, end: self._load_bare(chosen[start:end]),
            self._axes,
            tick,
        )

    def _sample_positions(self) -> "Positions":
        """Return evenly spaced positions."""
        import numpy as np

        count = len(self._keys)
        return np.arange(0, count, max(1, count // _SAMPLE))

    def _load_bare(self, positions: "Positions") -> "Matrix":
        """Return vectors without what tells only the language."""
        return remove_language(self._load_vectors(self._get_rows(positions)), self._axes)

    def compute_cosines(self, query: "Vector", keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these keys that the index holds."""
        found = self._find_positions(keys)
        scores = _round_cosines(self._score(query, found)).tolist()
        return dict(zip(self._keys[found].tolist(), scores, strict=True))

    def measure_background(self, query: "Vector") -> CosineBackground:
        """Return the mean and the deviation of the cosines of evenly spaced keys."""
        import numpy as np

        count = len(self._keys)
        if not count:
            return NO_BACKGROUND
        if self._signs is None:
            scores = self._score(query, self._sample_positions())
        else:
            if self._sampled is None:
                self._sampled = self._load_bare(self._sample_positions())
            scores = np.vecdot(self._sampled, remove_language(query, self._axes))
        with np.errstate(all="ignore"):  # a damaged vector gives no number
            mean, deviation = float(scores.mean()), float(scores.std())
        known = np.isfinite(mean) and np.isfinite(deviation)
        return CosineBackground(count, mean, deviation) if known else NO_BACKGROUND

    def get(self, keys: Collection[Key]) -> "Mapping[Key, Vector]":
        """Return copies of the vectors of those of these keys that the index holds."""
        found = self._find_positions(keys)
        vectors = self._load_vectors(self._get_rows(found))
        return dict(zip(self._keys[found].tolist(), vectors, strict=True))

    def find_missing(self, keys: Keys) -> list[Key]:
        """Return which of these keys the index does not hold."""
        import numpy as np

        wanted = np.array(keys, np.int64)
        return [Key(key) for key in np.setdiff1d(wanted, self._keys).tolist()]

    def _find_positions(self, keys: Collection[Key]) -> "Positions":
        import numpy as np

        return self._locate(np.unique(np.fromiter(keys, np.int64, len(keys))))

    def _locate(self, wanted: "KeyArray") -> "Positions":
        """Return the positions of those of these rising keys that the index holds."""
        import numpy as np

        positions = np.searchsorted(self._keys, wanted)
        inside = positions < len(self._keys)
        positions, wanted = positions[inside], wanted[inside]
        found: Positions = positions[self._keys[positions] == wanted]
        return found

    def _get_rows(self, found: "Positions") -> "Positions":
        return found if self._rows is None else self._rows[found]

    def _score(self, query: "Vector", found: "Positions") -> "Scores":
        """Return the scores of some positions; score all rows at once when that is cheaper."""
        last = self._last
        remembered = last is not None and last[0] is query
        if remembered or len(found) * _GATHER_BELOW >= self._stored:
            return self._score_all(query)[found]
        import numpy as np

        rows = self._load_vectors(self._get_rows(found))
        products: Scores = np.vecdot(rows, remove_language(query, self._axes))
        return products / self._measure_lengths(rows)

    def _measure_lengths(self, rows: "Matrix") -> "Scores":
        """Return the length of what `remove_language` leaves of unit vectors."""
        import numpy as np

        if self._axes is None:
            return np.ones(len(rows), np.float32)
        removed = rows @ self._axes.T
        # A damaged vector may be longer than 1.
        left = np.maximum(1.0 - np.einsum("ij,ij->i", removed, removed), _LEAST_SQUARE)
        lengths: Scores = np.sqrt(left)
        return lengths

    def _load_vectors(self, rows: "Positions") -> "Matrix":
        import numpy as np

        starts = np.cumsum([0, *map(len, self._parts)])
        numbers = np.searchsorted(starts, rows, "right") - 1
        dimension = self._parts[0].shape[1] if self._parts else 0
        found = np.empty((len(rows), dimension), np.float32)
        for number in np.unique(numbers).tolist():
            wanted = numbers == number
            part = self._parts[number]
            found[wanted] = part[rows[wanted] - starts[number]]
            # With each row the system maps up to two megabytes of the file around it.
            if not self._whole:
                advise_pages(part, "DONTNEED")
        return found

    def _score_all(self, query: "Vector") -> "Scores":
        """Return the scores of all positions; the scores of the last query stay cached."""
        if self._last is not None:
            if self._last[0] is query:
                return self._last[1]
            self._whole = True
        import numpy as np

        asked = remove_language(query, self._axes)
        products, lengths = [np.empty(0, np.float32)], [np.empty(0, np.float32)]
        for part in self._parts:
            # One core is as fast as the memory, and a threaded product of each part is slower.
            products.append(np.vecdot(part, asked))
            if self._lengths is None:
                lengths.append(self._measure_lengths(part))
            if not self._whole:
                advise_pages(part, "DONTNEED")
        if self._lengths is None:
            self._lengths = np.concatenate(lengths)
        scores: Scores = np.concatenate(products) / self._lengths
        if self._rows is not None:
            scores = scores[self._rows]
        self._last = (query, scores)
        return scores


def _sort_live_keys(keys: "KeyArray") -> "tuple[KeyArray, Positions | None]":
    """Return the live keys in rising order, each with its last row; None means row by row."""
    import numpy as np

    # KeyArray that strictly rise have no repeated one and no tombstone.
    if not len(keys) or (keys[0] > TOMBSTONE and (keys[1:] > keys[:-1]).all()):
        return keys, None
    live = np.flatnonzero(keys != TOMBSTONE)
    order = live[np.argsort(keys[live], kind="stable")]
    ordered = keys[order]
    last = np.ones(len(ordered), np.bool_)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], order[last]


def _round_cosines(scores: "Scores") -> "NDArray[np.float64]":
    """Return cosines, rounded so that equal vectors score equally on every machine."""
    import numpy as np

    wide: NDArray[np.float64] = np.asarray(scores, np.float64)
    return np.clip(np.round(wide, _DECIMALS), -1.0, 1.0)
