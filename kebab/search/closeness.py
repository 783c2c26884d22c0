"""Closeness: how near each other the words of a question stand in a passage."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

_FAR = 8
"""Words further apart than this are not near."""

_MANY = 20
"""Of a word that stands in a passage more often, the first places are looked at."""


def closeness(tokens: Sequence[str], asked: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return how near neighbours of a question are in a text, from 0 (far, or absent) to 1.

    Each pair of neighbours counts with the weight of its commoner word, as 1 over the distance in
    tokens; a pair in the other order is one token further apart.
    """
    places = _places(tokens, weights)
    total = near = 0.0
    for left, right in pairwise(term for term in asked if term in weights):
        worth = min(weights[left], weights[right])
        total += worth
        near += worth * _nearness(places.get(left, ()), places.get(right, ()))
    return near / total if total else 0.0


def _places(tokens: Sequence[str], weights: Mapping[str, float]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for place, token in enumerate(tokens):
        if token in weights and len(found[token]) < _MANY:
            found[token].append(place)
    return found


def _nearness(left: Sequence[int], right: Sequence[int]) -> float:
    """Return 1 over the least distance of two words, 0 when they are not near."""
    apart = (end - start if end > start else start - end + 1 for start in left for end in right)
    least = max(1, min(apart, default=_FAR + 1))
    return 1 / least if least <= _FAR else 0.0
