"""MinHash: short signatures that tell which of many sets may be alike, without comparing all.

Sets agree in a place of their signatures as often as they share elements. Signatures are cut into
bands; only sets that agree in a whole band are looked at (locality-sensitive hashing), so the work
grows with the number of sets and not with that of their pairs.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from kebab.search.shingles import Hashes, Places

    Signatures: TypeAlias = NDArray[np.uint32]
    Pairs: TypeAlias = NDArray[np.int64]

SIZE = 64
"""Places in a signature: the estimate of a likeness of .7 is off by .06 (one sigma)."""

_STEEP, _FLAT = 4, 3
_STEEP_FROM = 0.7
"""Bands of 4 find pairs of likeness .7 with .988, those of 3 pairs of .5 with .94."""

_SPREAD = 4
"""How many that follow it in a bucket each set is paired with: buckets stay linear."""

_SLACK = 0.15
"""How far below the threshold an estimate may lie: two and a half sigma."""

_BLOCK = 1 << 14
_SEED = 20
_LOW = 0xFFFFFFFF
_ODD = 0x9E3779B97F4A7C15


def signatures(shingles: "Hashes", starts: "Places") -> "Signatures":
    """Return the signature of each set, one a row; a set begins where the one before it ends."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    factors = rng.integers(0, 1 << 31, SIZE, np.uint32) * np.uint32(2) + np.uint32(1)
    offsets = rng.integers(0, 1 << 32, SIZE, np.uint32)
    made = np.empty((len(starts), SIZE), np.uint32)
    high = (shingles >> np.uint64(32)).astype(np.uint32)
    low = (shingles & np.uint64(_LOW)).astype(np.uint32)
    for place in range(SIZE):
        mixed = (high ^ offsets[place]) * factors[place] + low
        mixed ^= mixed >> np.uint32(15)
        mixed *= factors[place - 1]
        made[:, place] = np.minimum.reduceat(mixed, starts)
    return made


def united(rows: "Signatures", starts: "Places") -> "Signatures":
    """Return the signatures of unions of sets that stand side by side."""
    import numpy as np

    made: Signatures = np.minimum.reduceat(rows, starts, axis=0)
    return made


def alike(rows: "Signatures", threshold: float) -> "Pairs":
    """Return the pairs of rows that may reach a likeness, each once."""
    import numpy as np

    width = _STEEP if threshold >= _STEEP_FROM else _FLAT
    keys = [_key(rows[:, start : start + width]) for start in range(0, SIZE - width + 1, width)]
    near = [
        pairs[possible(rows, pairs, threshold)]
        for band, key in enumerate(keys)
        for pairs in _bucketed(key, keys[band - 1])
    ]
    return np.unique(np.concatenate(near), axis=0)


def possible(rows: "Signatures", pairs: "Pairs", threshold: float) -> "NDArray[np.bool_]":
    """Return which pairs may reach a likeness, as far as their signatures tell."""
    return estimates(rows, pairs) >= threshold - _SLACK


def estimates(rows: "Signatures", pairs: "Pairs") -> "NDArray[np.float64]":
    """Return how alike the rows of each pair seem to be."""
    import numpy as np

    found = np.empty(len(pairs), np.float64)
    for start in range(0, len(pairs), _BLOCK):
        left, right = pairs[start : start + _BLOCK].T
        found[start : start + _BLOCK] = (rows[left] == rows[right]).mean(axis=1)
    return found


def _key(band: "Signatures") -> "Hashes":
    """Return a number for each row that is the same where the band is."""
    import numpy as np

    keys = np.zeros(len(band), np.uint64)
    for column in band.T:
        keys = (keys ^ column) * np.uint64(_ODD)
    return keys


def _bucketed(keys: "Hashes", others: "Hashes") -> "Iterator[Pairs]":
    """Yield pairs of rows with the same key, the smaller one first.

    Within a crowd those come side by side that agree in another band too.
    """
    import numpy as np

    order = np.lexsort((others, keys))
    ordered = keys[order]
    for step in range(1, _SPREAD + 1):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        yield np.sort(np.stack([order[same], order[same + step]], axis=1), axis=1)
