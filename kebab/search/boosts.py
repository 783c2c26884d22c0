"""Boosts candidates by proximity, document context and diversity."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from kebab.core.ids import DocNumber, Key
from kebab.core.ports import Vectors
from kebab.search import fusion
from kebab.search.lexical import WeightedTerms
from kebab.search.query_intent import QueryIntent
from kebab.search.query_parser import ParsedQuery
from kebab.search.snippet import PassageCache

_FAR = 8
"""Words further apart than this are not near."""

_MANY = 20
"""Of a word that stands in a passage more often, the first places are looked at."""


def compute_proximity(
    tokens: Sequence[str], asked: Sequence[str], weights: Mapping[str, float]
) -> float:
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


Scores: TypeAlias = Mapping[Key, float]

PROXIMITY_LIMIT = 10
"""How many of the first candidates are looked into."""

_CONTEXT = 0.5
"""What the evidence of a document counts for beside that of its passage, for a topic."""

_CLOSE = 0.2
"""What closeness counts for in a question."""

_SPREAD, _SPREAD_OF_NEED = 0.05, 0.15
"""What a passage loses for each better one of its document: of what does not ask, and of a need."""


def compute_boosts(
    question: ParsedQuery,
    goal: QueryIntent,
    words: WeightedTerms,
    shares: Scores,
    scores: Scores,
    reading: PassageCache,
) -> Iterator[tuple[str, Scores]]:
    """Yield what is added to the evidence and why, each after the one before has been added.

    Args:
        question: What is asked.
        goal: What it is after.
        words: What its terms are worth.
        shares: The lexical evidence of the candidates.
        scores: The fused evidence of those that may be lifted.
        reading: What the passages are read through.
    """
    step = _handicap(goal)
    owners = reading.find_doc_numbers(scores.keys()) if step or goal.topic else {}
    if goal.topic:
        lift = _scaled(compute_document_context(shares, owners), _CONTEXT * goal.topic)
        scores = add_boost(scores, lift)
        yield "context", lift
    if goal.question:
        close = _close(question, words, fusion.select_best(scores, PROXIMITY_LIMIT), reading)
        lift = _scaled(close, _CLOSE * goal.question)
        scores = add_boost(scores, lift)
        yield "closeness", lift
    if step:
        yield "spread", compute_diversity_penalty(fusion.select_best(scores), owners, step)


def add_boost(scores: Scores, lift: Scores) -> dict[Key, float]:
    """Return scores with what is added to some of them."""
    return {**scores, **{key: scores[key] + more for key, more in lift.items()}}


def _close(
    question: ParsedQuery, words: WeightedTerms, keys: list[Key], reading: PassageCache
) -> dict[Key, float]:
    """Return how close the words of a question stand in passages."""
    asked = [term.text for term in question.terms]
    return {
        chunk.key: compute_proximity(reading.body(chunk), asked, words.weights)
        for chunk in reading.load_chunks(keys)
    }


def _handicap(goal: QueryIntent) -> float:
    """Return what a passage loses for every better one of its document."""
    return max(_SPREAD_OF_NEED * goal.need, 0.0 if goal.asks else _SPREAD)


def _scaled(scores: Scores, factor: float) -> Scores:
    return {key: factor * score for key, score in scores.items()}


_BEST = 3
"""How many passages speak for a document; where it has fewer, the others count as nothing."""


def compute_document_context(
    words: Mapping[Key, float], owners: Mapping[Key, DocNumber]
) -> dict[Key, float]:
    """Return, for every passage with an owner, the mean lexical evidence of its document's best."""
    held: defaultdict[DocNumber, list[float]] = defaultdict(list)
    for key, owner in owners.items():
        held[owner].append(words.get(key, 0.0))
    means = {owner: sum(sorted(all_)[-_BEST:]) / _BEST for owner, all_ in held.items()}
    return {key: means[owner] for key, owner in owners.items()}


def compute_diversity_penalty(
    ranked: Sequence[Key], owners: Mapping[Key, DocNumber], step: float
) -> dict[Key, float]:
    """Return what each passage loses: `step` for every better one of its document."""
    seen: Counter[DocNumber] = Counter()
    lost = {}
    for key in ranked:
        if (owner := owners.get(key)) is not None:
            lost[key] = -step * seen[owner]
            seen[owner] += 1
    return lost


def apply_relevance_feedback(
    cosines: Mapping[Key, float], first: Key, weight: float, vectors: Vectors
) -> Mapping[Key, float]:
    """Return the cosines of the question and `weight` times its best passage; the same without one.

    Args:
        cosines: Of the question, for every candidate that has a vector.
        first: The best passage.
        weight: How much it counts beside the question, from 0.
        vectors: The index.
    """
    passage = vectors.get([first]).get(first) if weight > 0 and first in cosines else None
    if passage is None:
        return cosines
    length = math.sqrt(1 + 2 * weight * cosines[first] + weight * weight)
    beside = vectors.compute_cosines(passage, cosines.keys())
    return {
        key: (cosine + weight * beside.get(key, cosine)) / length for key, cosine in cosines.items()
    }
