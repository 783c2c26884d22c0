"""Shingles: a text as the set of its runs of tokens, each run a number.

What two texts share of them is how much of one stands word for word in the other.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from kebab.errors.dependency import needed
from kebab.text.normalize import normalize_for_index
from kebab.text.scripts import split_units
from kebab.text.tokenizer import tokenize_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes: TypeAlias = NDArray[np.uint64]
    Places: TypeAlias = NDArray[np.int64]

WIDTH = 3
"""Tokens in a run: a changed word costs three shingles, and few texts share one by chance."""

_KNOWN = 1 << 17
"""The most words whose numbers are remembered."""

_SHORT = 24

_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_SHIFT = 29


class Shingler:
    """Turns texts into shingles; the same text always gives the same ones."""

    def __init__(self) -> None:
        with needed("finding duplicates", "numpy"):
            import numpy as np

        self._np = np
        self._numbers = _Numbers()

    def cut(self, texts: Sequence[str]) -> "tuple[Hashes, Places, Places]":
        """Return the shingles of all texts, where those of each begin, and its tokens' number."""
        np = self._np
        tokens = [self._tokens(text) for text in texts]
        counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
        padded = [one + [0] * (WIDTH - len(one)) for one in tokens]
        lengths = np.fromiter(map(len, padded), np.int64, len(padded))
        flat = np.fromiter(chain.from_iterable(padded), np.uint64, lengths.sum())
        ends = np.cumsum(lengths)
        whole = np.ones(max(0, len(flat) - WIDTH + 1), np.bool_)
        for back in range(1, WIDTH):
            whole[ends[:-1] - back] = False
        starts = np.concatenate([[0], np.cumsum(lengths - WIDTH + 1)[:-1]]).astype(np.int64)
        return self._runs(flat)[whole], starts, counts

    def of(self, texts: Sequence[str]) -> "Hashes":
        """Return the different shingles of some texts together, in order."""
        found: Hashes = self._np.unique(self.cut(texts)[0])
        return found

    def _runs(self, flat: "Hashes") -> "Hashes":
        """Return a number for each run of tokens."""
        np = self._np
        last = len(flat) - WIDTH + 1
        runs = np.zeros(max(0, last), np.uint64)
        for place, odd in enumerate(_ODD):
            runs += flat[place : place + len(runs)] * np.uint64(odd)
        mixed: Hashes = runs ^ (runs >> np.uint64(_SHIFT))
        return mixed

    def _tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, those of `index_tokens`."""
        found: list[int] = []
        for unit in split_units(normalize_for_index(text)):
            found += self._numbers[unit]
        return found


class _Numbers(dict[str, tuple[int, ...]]):
    """The numbers of the tokens of each unit; short units are remembered."""

    def __missing__(self, unit: str) -> tuple[int, ...]:
        made = tuple(map(_number, tokenize_unit(unit)))
        if len(self) >= _KNOWN:
            self.clear()
        if len(unit) <= _SHORT:
            self[unit] = made
        return made


def jaccard(left: "Hashes", right: "Hashes") -> float:
    """Return what two sets of shingles share of all that they hold."""
    import numpy as np

    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / ((len(left) + len(right) - shared) or 1)


@lru_cache(maxsize=_KNOWN)
def _number(token: str) -> int:
    raw = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "little")
