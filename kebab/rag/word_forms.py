"""Compares words that differ in an ending or in one letter."""

from functools import lru_cache

_ADJECTIVE_ENDINGS = frozenset(
    ("n", "an", "ian", "ean", "ese", "ish", "s", "ns", "ans", "ians", "ic")
)
_ENDINGS = frozenset(["", "y", "a", "e", *_ADJECTIVE_ENDINGS])
MIN_STEM, _LONG_STEM = 4, 6
"""Two forms of a word share so many letters; with the larger number, endings matter less."""


def has_same_root(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings, as `italy` and `italian` do."""
    pairs = zip(one, other, strict=False)
    shared = next(
        (index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other))
    )
    endings = {one[shared:], other[shared:]}
    is_adjective = not endings.isdisjoint(_ADJECTIVE_ENDINGS)
    return endings <= _ENDINGS and (is_adjective or shared >= _LONG_STEM)


@lru_cache(maxsize=4096)
def list_near_spellings(word: str) -> frozenset[str]:
    """Return a word and its spellings without one letter; two words with one in common are near.

    One letter that is added, left out, replaced or swapped with its neighbour makes no difference.
    """
    return frozenset((word, *(word[:place] + word[place + 1 :] for place in range(len(word)))))
