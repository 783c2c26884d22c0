"""Trust: how much the vectors of a model may say about passages in their language.

A model of one language gives vectors to every text in its script. In other languages they are of
some use (names, borrowed words), and of more harm when they weigh as much as in its own. Whether
passages are in it shows in its commonest words, which no other language has in such number.
"""

from collections.abc import Iterable

from kebab.text.scripts import split_units

_ENGLISH_MODELS = ("minilml6",)
_COMMON = frozenset(
    ("the", "of", "and", "to", "is", "for", "that", "with", "by", "it", "be", "are", "this", "from")
)
_FOREIGN, _ENGLISH = 0.03, 0.09
"""Shares of these words: English prose has .2 of them, texts on code .12, others less than .03."""

_ENOUGH = 30
"""Passages of fewer words tell nothing about their language."""


def trust(version: str, texts: Iterable[str]) -> float:
    """Return how far an embedding version may be trusted on texts, from 0 (foreign) to 1."""
    if not any(name in version for name in _ENGLISH_MODELS):
        return 1.0
    words = [word.lower() for text in texts for word in split_units(text)]
    if len(words) < _ENOUGH:
        return 1.0
    share = sum(word in _COMMON for word in words) / len(words)
    return min(1.0, max(0.0, (share - _FOREIGN) / (_ENGLISH - _FOREIGN)))
