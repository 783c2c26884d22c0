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
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kebab.core.model_profile import AnswerabilityCurve
from kebab.core.queries import Confidence, StoredChunk
from kebab.search.coverage import compute_own_coverage, weigh_keywords
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache

STRONG = 0.8
FAIR = 0.3
"""The least calibrated scores of strong and fair confidence."""

_READ_LIMIT = 5
"""How many of the first hits are read."""

_EXPONENT = 4
"""Scores fall with this power of the evidence."""

_LEXICAL = AnswerabilityCurve(words=3.71, cosine=0.0, evidence=6.47, length=0.714, start=-5.37)


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
        (compute_own_coverage(keywords, chunk, passages) for chunk in first),
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
