"""Boosts the best candidates: context, proximity, inherited headings, diversity, feedback.

Which boosts apply depends on the intent of the query. A topic is boosted by the context of its
document, a question by the proximity of its words. A short passage loses where only headings above
it have the words. Further passages of one document lose a little.
Relevance feedback moves the query vector of a described need towards its best passage.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from kebab.core.ids import DocNumber, Key
from kebab.core.ports import Vectors
from kebab.search.coverage import compute_heading_penalty
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import ParsedQuery, QueryIntent
from kebab.search.snippet import PassageCache

Scores: TypeAlias = Mapping[Key, float]
BoostScores: TypeAlias = Mapping[str, Scores]
"""What each boost adds to the evidence of candidates, by its name on the wire."""

BOOSTED_LIMIT = 300
"""How many of the best candidates are boosted."""

PROXIMITY_LIMIT = 10
"""How many of the best candidates are read for proximity."""

_CONTEXT_WEIGHT = 0.5
"""The weight of the document's scores beside that of the passage, for a topic."""

_PROXIMITY_WEIGHT = 0.15
"""The weight of proximity for a question."""

_PENALTY, _NEED_PENALTY = 0.05, 0.15
"""What a passage loses for each better one of its document: for non-questions, and for needs."""

_CONTEXT_PASSAGES = 3
"""How many passages represent a document; missing ones count as 0."""

_MAX_DISTANCE = 8
"""Words further apart than this many tokens are not near."""

_MAX_POSITIONS = 20
"""How many positions of one word in a passage are compared."""


def apply_boosts(
    parsed: ParsedQuery,
    intent: QueryIntent,
    weighted: WeightedTerms,
    fused: Scores,
    passages: PassageCache,
) -> tuple[Scores, BoostScores]:
    """Return the boosted scores of all candidates, and every boost by its name.

    Each boost is computed from the scores that include the boosts before it.

    Args:
        parsed: The query.
        intent: Its intent.
        weighted: Its weighted terms.
        fused: The fused evidence of the candidates.
        passages: Reads the passages.
    """
    scores: Scores = {key: fused[key] for key in select_best(fused, BOOSTED_LIMIT)}
    boosts: dict[str, Scores] = {}
    step = max(_NEED_PENALTY * intent.need, 0.0 if intent.asks else _PENALTY)
    owners = passages.find_doc_numbers(scores.keys()) if step or intent.topic else {}
    if intent.topic:
        context = compute_document_context(scores, owners)
        boosts["context"] = _scale(context, _CONTEXT_WEIGHT * intent.topic)
        scores = add_boost(scores, boosts["context"])
    if intent.question:
        best = passages.load_chunks(select_best(scores, PROXIMITY_LIMIT))
        query_tokens = [term.text for term in parsed.terms]
        near = {
            chunk.key: compute_proximity(
                passages.tokenize_body(chunk), query_tokens, weighted.weights
            )
            for chunk in best
        }
        boosts["closeness"] = _scale(near, _PROXIMITY_WEIGHT * intent.question)
        scores = add_boost(scores, boosts["closeness"])
    inherited = _compute_heading_penalty(scores, weighted, passages)
    if inherited:
        boosts["headings"] = inherited
        scores = add_boost(scores, inherited)
    if step:
        boosts["spread"] = compute_diversity_penalty(select_best(scores), owners, step)
        scores = add_boost(scores, boosts["spread"])
    return {**fused, **scores}, boosts


def _compute_heading_penalty(
    scores: Scores, weighted: WeightedTerms, passages: PassageCache
) -> Scores:
    best = {key: scores[key] for key in select_best(scores)}
    return compute_heading_penalty(best, weighted.rarities, passages)


def select_best(scores: Scores, limit: int | None = None) -> list[Key]:
    """Return the chunks of highest score, the highest first, in any order among equals."""
    return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]


def add_boost(scores: Scores, boost: Scores) -> dict[Key, float]:
    """Return scores with a boost added to those that have one."""
    return {**scores, **{key: scores[key] + more for key, more in boost.items()}}


def _scale(scores: Scores, factor: float) -> Scores:
    return {key: factor * score for key, score in scores.items()}


def compute_proximity(
    tokens: Sequence[str], query_tokens: Sequence[str], weights: Mapping[str, float]
) -> float:
    """Return how near adjacent words of a query are in a text, from 0 (far or absent) to 1.

    Each pair of adjacent words counts with the weight of the commoner word, as 1 over the distance
    in tokens. A pair in reverse order counts as one token further apart.
    """
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for position, token in enumerate(tokens):
        if token in weights and len(positions[token]) < _MAX_POSITIONS:
            positions[token].append(position)
    total = near = 0.0
    for left, right in pairwise(term for term in query_tokens if term in weights):
        weight = min(weights[left], weights[right])
        total += weight
        near += weight * _invert_distance(positions.get(left, ()), positions.get(right, ()))
    return near / total if total else 0.0


def _invert_distance(left: Sequence[int], right: Sequence[int]) -> float:
    """Return 1 over the least distance of two words, 0 when they are not near."""
    apart = (end - start if end > start else start - end + 1 for start in left for end in right)
    least = max(1, min(apart, default=_MAX_DISTANCE + 1))
    return 1 / least if least <= _MAX_DISTANCE else 0.0


def compute_document_context(scores: Scores, owners: Mapping[Key, DocNumber]) -> Scores:
    """Return for every passage with a document the mean score of its best passages."""
    scores_of: defaultdict[DocNumber, list[float]] = defaultdict(list)
    for key, owner in owners.items():
        scores_of[owner].append(scores.get(key, 0.0))
    means = {
        owner: sum(sorted(values)[-_CONTEXT_PASSAGES:]) / _CONTEXT_PASSAGES
        for owner, values in scores_of.items()
    }
    return {key: means[owner] for key, owner in owners.items()}


def compute_diversity_penalty(
    ranked: Sequence[Key], owners: Mapping[Key, DocNumber], step: float
) -> Scores:
    """Return what each passage loses: `step` for every better passage of its document."""
    seen: Counter[DocNumber] = Counter()
    penalties = {}
    for key in ranked:
        if (owner := owners.get(key)) is not None:
            penalties[key] = -step * seen[owner]
            seen[owner] += 1
    return penalties


def apply_relevance_feedback(
    cosines: Scores, first: Key, weight: float, vectors: Vectors
) -> Scores:
    """Return cosines with the query vector plus `weight` times the vector of the best passage.

    Without a vector of that passage, or with a weight of 0, the cosines stay as they are.

    Args:
        cosines: The cosines of the query with every candidate that has a vector.
        first: The best passage.
        weight: The weight of that passage beside the query, from 0.
        vectors: The index.
    """
    passage = vectors.get([first]).get(first) if weight > 0 and first in cosines else None
    if passage is None:
        return cosines
    length = math.sqrt(1 + 2 * weight * cosines[first] + weight * weight)
    other = vectors.compute_cosines(passage, cosines.keys())
    return {
        key: (cosine + weight * other.get(key, cosine)) / length for key, cosine in cosines.items()
    }
