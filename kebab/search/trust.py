"""Trust: how far the vectors of a model count for passages in their language.

A model of one language gives a vector to every text in its script. In other languages the vectors
help a little (names, borrowed words) and do harm when they weigh as much as in its own language.
The commonest English words tell English passages from others: no other language has as many.
"""

from collections.abc import Iterable

from kebab.core.model_profile import LanguageTrust
from kebab.text.scripts import split_units

_COMMON = frozenset(
    ("the", "of", "and", "to", "is", "for", "that", "with", "by", "it", "be", "are", "this", "from")
)
_FOREIGN, _ENGLISH = 0.03, 0.09
"""Shares of these words: English prose has .2 of them, texts on code .12, others less than .03."""

_ENOUGH = 30
"""Passages with fewer words are taken to be English."""


def trust(levels: LanguageTrust, texts: Iterable[str]) -> float:
    """Return how far the vectors of a model count on texts, from 0 to 1."""
    if levels.english == levels.other:
        return levels.english
    return levels.other + (levels.english - levels.other) * _english_share(texts)


def _english_share(texts: Iterable[str]) -> float:
    """Return how far texts are English, from 0 (another language) to 1."""
    words = [word.lower() for text in texts for word in split_units(text)]
    if len(words) < _ENOUGH:
        return 1.0
    share = sum(word in _COMMON for word in words) / len(words)
    return min(1.0, max(0.0, (share - _FOREIGN) / (_ENGLISH - _FOREIGN)))
