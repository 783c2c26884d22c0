"""Reads the signals by which a search judges whether its first hits answer the query."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kebab.core.chunks import CosineBackground, TokenMatch
from kebab.core.queries import StoredChunk
from kebab.search.coverage import compute_own_coverage, weigh_keywords
from kebab.search.query_parser import QueryIntent, classify_intent
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache
from kebab.text.language import detect_question_language

READ_LIMIT = 5
"""How many of the first hits are read."""

_FEW = 20
"""So many passages tell half of what a large index tells about the usual cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSignals:
    """What the first hits of a search tell about the query.

    `passages` holds for each of them the share of the keywords and the cosine on the scale of the
    model; a passage without a vector has the highest cosine of the others. `margin` is the distance
    of the highest cosine from the mean of all, in deviations, less what the best of so many random
    ones reaches. `evidence` is the score of the first hit, and `rival` that of the next one with
    another text as a share of it. `length` is the logarithm of the number of terms.
    """

    passages: tuple[tuple[float, float], ...]
    margin: float
    evidence: float
    rival: float
    length: float
    intent: QueryIntent
    by_words: bool
    """Whether the query and some passage share a word."""
    by_vectors: bool
    """Whether some passage was compared by its vector."""
    foreign: bool
    """Whether the query is in another language than the passages, as far as can be told."""
    match: TokenMatch | None = None
    """How far the tokens of the first passages match; None when they were not compared."""
    absent: bool = False
    """Whether every term of the query occurs nowhere."""


def read_signals(candidates: RankedCandidates, passages: PassageCache) -> AnswerSignals:
    """Return the signals of a search with at least one candidate."""
    first = read_first_passages(candidates, passages)
    keywords = weigh_keywords(candidates.weighted.rarities)
    cosines = candidates.vector.scores
    intent = classify_intent(candidates.parsed)
    highest = max((cosines[chunk.key] for chunk in first if chunk.key in cosines), default=None)
    return AnswerSignals(
        passages=tuple(
            (
                compute_own_coverage(keywords, chunk, passages),
                _scale_cosine(candidates, cosines.get(chunk.key, highest)),
            )
            for chunk in first
        ),
        margin=0.0 if highest is None else compute_margin(highest, candidates.background),
        evidence=candidates.ranked[0][1],
        rival=_compute_rival(first, dict(candidates.ranked[:READ_LIMIT])),
        length=math.log(len(candidates.weighted.rarities) or 1),
        intent=intent,
        by_words=any(chunk.key in candidates.lexical.scores for chunk in first),
        by_vectors=highest is not None,
        foreign=highest is not None and _is_foreign(candidates.parsed.plain, intent, first),
        match=candidates.match,
        absent=candidates.weighted.rarities.keys() <= candidates.weighted.absent,
    )


def read_first_passages(candidates: RankedCandidates, passages: PassageCache) -> list[StoredChunk]:
    """Return the passages that are read."""
    return passages.load_chunks([key for key, _ in candidates.ranked[:READ_LIMIT]])


def is_across_languages(candidates: RankedCandidates, passages: PassageCache) -> bool:
    """Return whether query and passages are in different languages that the model compares."""
    model = candidates.model
    if model is None or model.answerability.matched is None or not candidates.ranked:
        return False
    first = read_first_passages(candidates, passages)
    if all(chunk.key not in candidates.vector.scores for chunk in first):
        return False
    return _is_foreign(candidates.parsed.plain, classify_intent(candidates.parsed), first)


def compute_margin(highest: float, background: CosineBackground) -> float:
    """Return how far the highest cosine is above what chance gives; 0 when nothing is known.

    The best of n independent normal values is about the square root of 2 ln n deviations above
    their mean. A few passages tell little about the usual cosine, so their margin counts less.
    """
    count = background.size
    if not count or not background.deviation:
        return 0.0
    distance = (highest - background.mean) / background.deviation
    return count / (count + _FEW) * (distance - math.sqrt(2 * math.log(count)))


def _scale_cosine(candidates: RankedCandidates, cosine: float | None) -> float:
    if candidates.model is None or cosine is None:
        return 0.0
    return candidates.model.cosine_scale.normalise(cosine)


def _compute_rival(first: Sequence[StoredChunk], scores: Mapping[int, float]) -> float:
    """Return the score of the next passage with another text as a share of the first, 0 to 1."""
    if not first:
        return 1.0
    best, others = first[0], first[1:]
    other = next((scores[chunk.key] for chunk in others if chunk.text != best.text), 0.0)
    return min(1.0, max(0.0, other / scores[best.key])) if scores[best.key] > 0 else 1.0


def _is_foreign(text: str, intent: QueryIntent, first: Sequence[StoredChunk]) -> bool:
    """Return whether no passage is in the language of a query.

    Of a query in an unknown language only a question is taken to be foreign: names and keywords
    belong to no language.
    """
    code = detect_question_language(text).code
    if code is None:
        return intent.asks and any(chunk.lang for chunk in first)
    return all(chunk.lang not in {None, code} for chunk in first)
