"""Fuses lexical and vector evidence into one score per candidate, and boosts the best ones.

The boosts are context, proximity, diversity and feedback. Which ones apply depends on the intent
of the query. A topic is boosted by the context of its document, a question by the proximity of its
words. Further passages of one document lose a little. Relevance feedback moves the query vector of
a described need towards its best passage.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from kebab.core.chunks import (
    NO_BACKGROUND,
    CosineBackground,
    DocNumber,
    Key,
    KeyedScore,
    LanguageTrust,
    ModelProfile,
)
from kebab.search.lexical import WeightedTerms, find_foreign
from kebab.search.query_parser import ParsedQuery, QueryIntent, is_identifier
from kebab.search.snippet import PassageCache
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.core.ports import Vectors

Scores: TypeAlias = Mapping[Key, float]
BoostScores: TypeAlias = Mapping[str, Scores]
"""What each boost adds to the evidence of candidates, by its name on the wire."""


class VectorMatches(Struct, frozen=True, kw_only=True):
    """The nearest chunks in order, every cosine that was computed, and the usual cosines."""

    nearest: Sequence[KeyedScore]
    cosines: dict[Key, float]
    model: ModelProfile
    from_cache: bool
    background: CosineBackground = NO_BACKGROUND
    note: DegradedChannel | None = None
    """Why the nearest passages may be wrong."""


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

_MOST_BETTER = 8
"""More better passages of the document cost no more, so that a definition below them is found."""

_CONTEXT_PASSAGES = 3
"""How many passages represent a document; missing ones count as 0."""

_MAX_DISTANCE = 8
"""Words further apart than this many tokens are not near."""


def apply_boosts(
    parsed: ParsedQuery,
    intent: QueryIntent,
    weighted: WeightedTerms,
    fused: Scores,
    passages: PassageCache,
) -> tuple[Scores, BoostScores]:
    """Return the boosted scores of all candidates, and every boost by its name.

    Each boost is computed from the scores that include the boosts before it.
    """
    scores: Scores = {key: fused[key] for key in select_best(fused, BOOSTED_LIMIT)}
    boosts: dict[str, Scores] = {}
    least = 0.0 if intent.asks else _PENALTY
    step = 0.0 if is_identifier(parsed.plain) else max(_NEED_PENALTY * intent.need, least)
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
    if step:
        boosts["spread"] = compute_diversity_penalty(select_best(scores), owners, step)
        scores = add_boost(scores, boosts["spread"])
    return {**fused, **scores}, boosts


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
        if token in weights:
            positions[token].append(position)
    total = near = 0.0
    for left, right in pairwise(term for term in query_tokens if term in weights):
        weight = min(weights[left], weights[right])
        total += weight
        least = min(
            (
                end - start if end > start else start - end + 1
                for start in positions.get(left, ())
                for end in positions.get(right, ())
            ),
            default=_MAX_DISTANCE + 1,
        )
        near += weight / max(1, least) if least <= _MAX_DISTANCE else 0.0
    return near / total if total else 0.0


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
    """Return what each passage loses: `step` for each of up to 8 better ones of its document."""
    seen: Counter[DocNumber] = Counter()
    penalties = {}
    for key in ranked:
        if (owner := owners.get(key)) is not None:
            penalties[key] = -step * min(seen[owner], _MOST_BETTER)
            seen[owner] += 1
    return penalties


def apply_relevance_feedback(
    cosines: Scores, first: Key, weight: float, vectors: "Vectors"
) -> Scores:
    """Return cosines with the query vector plus `weight` times the vector of the best passage.

    Without a vector of that passage, or with a weight of 0, the cosines stay as they are.
    """
    passage = vectors.get([first]).get(first) if weight > 0 and first in cosines else None
    if passage is None:
        return cosines
    length = math.sqrt(1 + 2 * weight * cosines[first] + weight * weight)
    other = vectors.compute_cosines(passage, cosines.keys())
    return {
        key: (cosine + weight * other.get(key, cosine)) / length for key, cosine in cosines.items()
    }


_GOOD_EVIDENCE = 0.5
"""The lexical evidence of a passage that holds most of the query; across languages few reach it."""

_FADING = 0.35
"""The weight of lexical evidence falls with this power of its strength."""

_FOREIGN_GAIN = 0.2
"""What the lexical share gains where the model knows the script, but not the language."""

_UNKNOWN_SHARE = 0.9
"""The lexical share for a query in a language that the model does not know."""

_PLACE_GAIN = 2.0
"""A passage without a vector keeps its place in full from half of the strength of good words."""

_FOREIGN_EVIDENCE = 0.2
"""The lexical evidence of a passage whose language the query does not share: what the best wrong
passages in its language have."""

_JUDGED = 30
"""How many of the nearest passages are judged by their language."""

_SAMPLE = 5
"""How many passages show the language of the notes."""


def fuse_channels(
    parsed: ParsedQuery,
    need: float,
    evidence: Scores,
    matches: VectorMatches,
    passages: PassageCache,
    vectors: "Callable[[], Vectors | None]",
) -> Scores:
    """Return the evidence of both channels; a described need gets relevance feedback.

    Without lexical candidates it is the evidence of the vector channel alone. `need` tells how far
    the query describes a need, from 0 to 1. `evidence` is that of the lexical candidates, the best
    first.
    """
    model, scale = matches.model, matches.model.cosine_scale
    semantic = scale.normalise_all(matches.cosines)
    if not evidence:
        return semantic
    first = passages.load_chunks(list(islice(evidence, _SAMPLE)))
    strength = measure_lexical_strength(evidence)
    trust, query_trust = estimate_trust(
        model.language_trust, [chunk.lang for chunk in first], parsed.plain, strength
    )
    share = model.lexical_share + _FOREIGN_GAIN * (1 - trust)
    share += (_UNKNOWN_SHARE - share) * (1 - query_trust)
    words = share * math.pow(strength, _FADING * query_trust)
    share = words / (words + 1 - share)
    nearest = islice(matches.cosines, _JUDGED)
    foreign = find_foreign(parsed.plain, nearest, passages)
    lexical = {**evidence, **{key: evidence.get(key, 0.0) + _FOREIGN_EVIDENCE for key in foreign}}
    scores = fuse(lexical, semantic, share)
    weight = need * trust * query_trust
    index = vectors() if weight > 0 else None
    if index is not None:
        best = select_best(scores, BOOSTED_LIMIT)
        cosines = {key: matches.cosines[key] for key in best if key in matches.cosines}
        moved = apply_relevance_feedback(cosines, best[0], weight, index)
        held = {key: lexical.get(key, 0.0) for key in best}
        scores |= fuse(held, scale.normalise_all(moved), share)
    return scores | place_unembedded([*evidence.items()], scores, matches.cosines, strength)


def measure_lexical_strength(evidence: Scores) -> float:
    """Return how much the words of a query say, from 0 to 1: how far its best passage holds them.

    Across languages only names and numbers match, and few passages with one of them are right.
    """
    return min(1.0, max(evidence.values(), default=0.0) / _GOOD_EVIDENCE)


def fuse(lexical: Scores, semantic: Scores, share: float) -> dict[Key, float]:
    """Return the fused score of every chunk of either channel; `share` is the lexical part.

    The semantic evidence of a chunk without a vector is taken to equal its lexical evidence.
    """
    rest = 1 - share
    fused = {key: share * lexical.get(key, 0.0) + rest * value for key, value in semantic.items()}
    for key, value in lexical.items():
        if key not in semantic:
            fused[key] = share * value + rest * value
    return fused


def place_unembedded(
    words: Sequence[KeyedScore], scores: Scores, embedded: Container[Key], strength: float
) -> dict[Key, float]:
    """Return the scores of the passages without a vector, which keep their places among the words.

    The passages with a vector share the places that they have in the order of words, and change
    them by their scores. These places give points: the score by words, and the score of the passage
    that has the place now. The score of a passage without a vector lies on the line between the
    points around it. Where the words say little, it keeps a part of the score that it had. `words`
    are in order. `strength` tells how much the words of the query say, from 0 to 1.
    """
    taken = (scores[key] for key in select_best(scores) if key in embedded)
    points = [(score, next(taken)) for key, score in words if key in embedded]
    weight = min(1.0, strength * _PLACE_GAIN)
    placed: dict[Key, float] = {}
    passed = 0
    for key, score in words:
        if key in embedded:
            passed += 1
        else:
            placed[key] = scores[key] + weight * (_interpolate(points, passed, score) - scores[key])
    return placed


def _interpolate(points: Sequence[tuple[float, float]], index: int, score: float) -> float:
    """Return the height at a score below `index` of the falling points.

    Beyond the first and the last point the height is proportional to the score.
    """
    if not points:
        return score
    low = points[min(index, len(points) - 1)]
    if not 0 < index < len(points):
        return score * low[1] / low[0] if low[0] > 0 else min(score, low[1])
    high = points[index - 1]
    part = (score - low[0]) / (high[0] - low[0]) if high[0] > low[0] else 0.0
    return low[1] + part * (high[1] - low[1])


def rank_by_score(scores: Mapping[Key, float]) -> list[KeyedScore]:
    """Return chunks by falling score; of equal scores the smaller key comes first."""
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return list(zip(order, map(scores.__getitem__, order), strict=True))


def estimate_trust(
    levels: LanguageTrust, languages: Sequence[str | None], query: str, strength: float
) -> tuple[float, float]:
    """Return how far the vectors of a model count for passages and a query of some language.

    Passages in an unknown language are taken to be English. Few short queries show their language.
    One that is not clearly English is taken for foreign as far as the passages do not hold its
    words (`strength`).
    """
    if levels.english == levels.other:
        return levels.english, 1.0
    from kebab.text.language import detect_question_language

    asks_in_english = detect_question_language(query).code == "en"
    gain = levels.english - levels.other
    english = sum(one in {None, "en"} for one in languages) / (len(languages) or 1)
    return (
        levels.other + gain * english,
        levels.english if asks_in_english else levels.other + gain * strength,
    )
