"""Fusion: one order out of two channels, as a convex combination of their evidence.

Lexical evidence is bm25 as a share of the best possible for the query; semantic evidence is the
cosine on the scale of its model. Both run from 0 to 1 and mean the same in every query, so the
sum does too, which ranks alone (reciprocal rank fusion) cannot give.

What was tried instead, with figures, stands in `docs/search-quality.md`.
"""

from collections.abc import Mapping

from kebab.core.ids import Key

WORDS = 0.6
"""The share of lexical evidence in a question; the rest is semantic."""

_FOREIGN = 0.2
"""What words gain where the model knows the script, but not the language."""

_NEED = 0.15
"""What words lose where a need is told in so many of them that few passages hold most."""


def lexical_share(trust: float, verbose: float) -> float:
    """Return the share of lexical evidence, by how far the model knows the language and by extent.

    Args:
        trust: How far the vectors may be trusted, from 0 to 1.
        verbose: How far the query describes a need, from 0 to 1.
    """
    return WORDS + _FOREIGN * (1 - trust) - _NEED * verbose * trust


def fuse(
    words: Mapping[Key, float], meaning: Mapping[Key, float], share: float = WORDS
) -> dict[Key, float]:
    """Return the score of every chunk of either channel; `share` is that of the words.

    A chunk that cannot have a vector is judged by its words alone: its semantic evidence is taken
    to be as strong as its lexical evidence.
    """
    rest = 1 - share
    fused = {key: share * words.get(key, 0.0) + rest * value for key, value in meaning.items()}
    for key, value in words.items():
        if key not in meaning:
            fused[key] = share * value + rest * value
    return fused


def ranked(scores: Mapping[Key, float]) -> list[tuple[Key, float]]:
    """Return chunks by falling score, ties by the smaller key."""
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return list(zip(order, map(scores.__getitem__, order), strict=True))


def front(scores: Mapping[Key, float], limit: int | None = None) -> list[Key]:
    """Return the chunks of highest score, the highest first, without an order among equals."""
    return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]
