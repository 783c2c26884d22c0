"""Estimates the answerability of a query: how likely the first hit answers it.

The estimate is a logistic curve of three values:
- the share of the query's keywords that one of the first passages holds with its headings. Words
  that occur nowhere count against it, so that a handful of notes needs no statistics.
- the length of the query, because no passage holds all of a long one.
- the highest cosine, or for the lexical channel alone the evidence of the first hit.

The lexical curve is here. The curves with vectors belong to the model (`Answerability`). The curves
were fitted to separate questions of a data set from those of other sets, from nonsense, and from
everyday matters that no set covers. They were then adjusted so that the probability is about right
on SQuAD 2, and so that `FAIR` loses few answerable questions; see `docs/search-quality.md`.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kebab.core.model_profile import AnswerabilityCurve
from kebab.core.queries import Confidence, StoredChunk
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache
from kebab.text.scripts import is_dense

STRONG = 0.8
FAIR = 0.3
"""The least calibrated scores of strong and fair confidence."""

_READ_LIMIT = 5
"""How many of the first hits are read."""

_EXPONENT = 4
"""Scores fall with this power of the evidence."""

_LEXICAL = AnswerabilityCurve(words=3.71, cosine=0.0, evidence=6.47, length=0.714, start=-5.37)

_QUESTION_BIGRAMS_BY_LANGUAGE = {
    "Korean": (
        "얼마 마나 무엇 엇을 엇이 엇인 어디 디서 디에 언제 제인 누가 누구 구인 어떻 떻게 어떤 며칠"
        " 나요 까요 니까 인가 가요 뭐야 은가 는가 였나 했나 한가 느냐 을까 일까"
    ),
    "Japanese": (
        "何で 何が 何を 何と 何年 は何 誰が 誰で は誰 です すか ます どこ いつ だれ なに なぜ どの"
        " どん はど のか たか たの るか はい のは"
    ),
    "Chinese": (
        "什么 什麼 多少 哪里 哪裡 哪个 哪個 哪些 怎么 怎麼 怎样 为什 為什 是谁 是誰 谁是 几个 幾個"
        " 何时 何時 是什 么是 如何"
    ),
}
QUESTION_BIGRAMS = frozenset(
    gram for grams in _QUESTION_BIGRAMS_BY_LANGUAGE.values() for gram in grams.split()
)
_is_hiragana = re.compile("[\u3041-\u309f]+").fullmatch
_HIRAGANA_WEIGHT = 0.3
"""The weight of a bigram of Hiragana alone: particles and endings, seldom a name."""

_DENSE_DISCOUNT = 0.3
"""The share of a query in bigrams that no passage repeats: they overlap word borders."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns evidence into scores: the best evidence of a search scores its answerability."""

    answerability: float
    best: float

    def score(self, evidence: float) -> float:
        """Return the calibrated score of fused evidence, between 0 and 1, rising with it."""
        if evidence >= self.best:
            return self.answerability
        if self.best <= 0:
            return 0.0
        return self.answerability * max(0.0, evidence / self.best) ** _EXPONENT


def compute_relative_evidence(score: float, best: float) -> float:
    """Return the evidence of a hit as a share of that of the best hit, from 0 to 1."""
    return (score / best) ** (1 / _EXPONENT) if best > 0 else 0.0


def classify_confidence(score: float) -> Confidence:
    """Return the confidence of a calibrated score."""
    if score >= STRONG:
        return Confidence.STRONG
    return Confidence.FAIR if score >= FAIR else Confidence.WEAK


def is_convincing(candidates: RankedCandidates, calibration: Calibration) -> bool:
    """Return whether the best candidate is above weak confidence."""
    best = classify_confidence(calibration.answerability)
    return bool(candidates.ranked) and best is not Confidence.WEAK


_LEAST_SCORES = {Confidence.STRONG: STRONG, Confidence.FAIR: FAIR, Confidence.WEAK: 0.0}


def select_confident(
    candidates: RankedCandidates, calibration: Calibration, least: Confidence
) -> RankedCandidates:
    """Return the candidates of at least some confidence; these come first in the order."""
    bound = _LEAST_SCORES[least]
    kept = [one for one in candidates.ranked if calibration.score(one[1]) >= bound]
    return replace(candidates, ranked=kept)


def calibrate(candidates: RankedCandidates, passages: PassageCache) -> Calibration:
    """Return the calibration of a search."""
    best = candidates.ranked[0][1] if candidates.ranked else 0.0
    return Calibration(estimate_answerability(candidates, passages), best)


def estimate_answerability(candidates: RankedCandidates, passages: PassageCache) -> float:
    """Return the probability that the first hit answers the query, between 0 and 1.

    It is 1 when the query holds nothing but filters.
    """
    if not candidates.ranked:
        return 0.0
    rarities = candidates.weighted.rarities
    if not rarities:
        return 1.0
    first = read_first_passages(candidates, passages)
    curve, keywords = _select_curve(candidates, first), weigh_keywords(rarities)
    coverage = max(
        (compute_coverage(keywords, passages.tokenize_passage(chunk)) for chunk in first),
        default=0.0,
    )
    logit = (
        curve.start
        + curve.words * coverage
        + curve.cosine * _find_best_cosine(candidates, first)
        + curve.evidence * candidates.ranked[0][1]
        + curve.length * math.log(len(rarities))
    )
    return 1 / (1 + math.exp(-logit))


def read_first_passages(candidates: RankedCandidates, passages: PassageCache) -> list[StoredChunk]:
    """Return the passages that the estimate reads."""
    return passages.load_chunks([key for key, _ in candidates.ranked[:_READ_LIMIT]])


def _select_curve(candidates: RankedCandidates, first: Sequence[StoredChunk]) -> AnswerabilityCurve:
    """Return the curve for the channels that found the first chunks."""
    model, lexical = candidates.model, candidates.lexical.scores
    if model is None or not any(chunk.key in candidates.vector.scores for chunk in first):
        return _LEXICAL
    curves = model.answerability
    return curves.hybrid if any(chunk.key in lexical for chunk in first) else curves.vector


def _find_best_cosine(candidates: RankedCandidates, first: Sequence[StoredChunk]) -> float:
    """Return the highest cosine of the first chunks, on the scale of the model."""
    if candidates.model is None:
        return 0.0
    scale, cosines = candidates.model.cosine_scale, candidates.vector.scores
    shares = (scale.normalise(cosines[chunk.key]) for chunk in first if chunk.key in cosines)
    return max(shares, default=0.0)


def weigh_keywords(rarities: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of the terms without question words, unless nothing else is left."""
    weights = {
        term: weight * (_HIRAGANA_WEIGHT if _is_hiragana(term) else 1.0)
        for term, weight in rarities.items()
        if term not in QUESTION_BIGRAMS
    }
    return weights or dict(rarities)


def compute_coverage(keywords: Mapping[str, float], tokens: Collection[str]) -> float:
    """Return the weighted share of keywords that some tokens hold, from 0 to 1.

    A share of the bigrams is not expected, because no passage repeats them.
    """
    held = sum(weight for term, weight in keywords.items() if term in tokens)
    dense = sum(weight for term, weight in keywords.items() if is_dense(term))
    expected = sum(keywords.values()) - _DENSE_DISCOUNT * dense
    return min(1.0, held / (expected or 1.0))
