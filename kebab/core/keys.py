"""Keys by the million: rising, eight bytes each, and compared without a set of them all."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

from kebab.core.ids import Key

Keys: TypeAlias = "array[int]"
"""Keys in rising order, those that were found several times as often as that."""

_PART = 65_536


def rising(keys: Iterable[int]) -> Keys:
    """Return keys that came in any order."""
    return array("q", sorted(keys))


def lacking(wanted: Keys, held: Keys) -> list[Key]:
    """Return those of the wanted keys that are not held, in rising order."""
    missing: list[Key] = []
    for start in range(0, len(wanted), _PART):
        part = wanted[start : start + _PART]
        inside = held[bisect_left(held, part[0]) : bisect_right(held, part[-1])]
        if part != inside:
            found = set(inside)
            missing += [Key(key) for key in part if key not in found]
    return missing


def repeated(keys: Keys) -> set[Key]:
    """Return the keys that were found more than once."""
    return {Key(key) for key, following in pairwise(keys) if key == following}
