"""Quotes: the words of a passage that carry most of a claim, verbatim."""

from itertools import pairwise

from kebab.core.answer import Quote
from kebab.rag.checking.ground import Ground, Said

_FACT = 2.0
"""What a fact of a claim weighs against one of its key terms."""

_GAIN = 2.0
"""What a second sentence must add to be quoted too."""

_LONGEST = 600
"""The most characters of two sentences."""


def quote(claim: Said, ground: Ground) -> Quote:
    """Return the sentence of a passage, or two neighbours, that carry most of a claim.

    It is trimmed and not empty unless the passage is; the first sentence when none carries any.
    """
    spans = ground.spans
    weights = [_weight(claim, ground, index) for index in range(len(spans))]
    best = max(range(len(spans)), key=weights.__getitem__)
    first, last, most = best, best, weights[best] + _GAIN
    for low, high in pairwise(range(max(0, best - 1), min(len(spans), best + 2))):
        together = _weight(claim, ground, low, high)
        if together >= most and spans[high][1] - spans[low][0] <= _LONGEST:
            first, last, most = low, high, together + 1
    return _stretch(ground, spans[first][0], spans[last][1])


def _weight(claim: Said, ground: Ground, *indexes: int) -> float:
    """Return how much of a claim some sentences hold."""
    tokens = frozenset().union(*(ground.sentences[index] for index in indexes))
    lacking = [set(ground.lacking(claim.facts, index)) for index in indexes]
    held = claim.facts.count - len(set.intersection(*lacking))
    return sum(term in tokens for term in claim.terms) + _FACT * held


def _stretch(ground: Ground, start: int, end: int) -> Quote:
    """Return a stretch of a passage, without white space around it, as one of its chunk."""
    passage = ground.passage
    part = passage.text[start:end]
    low = start + len(part) - len(part.lstrip())
    high = low + len(part.strip())
    return Quote(chunk=passage.chunk, start=passage.start + low, end=passage.start + high)
