"""Conviction: how sure the first hits make it that what is asked stands in the notes.

The logistic of three things: the share of the question's telling terms that one of the first
passages holds with its headings (terms that occur nowhere count against it, so that a handful of
notes needs no statistics), how long the question is (long ones are never held whole), and the
highest cosine, or by words alone the evidence of the first hit.

The curve of words is here; the curves with vectors are facts of the model (`Answerability`). They
were fitted to tell questions from those of other sets, from nonsense, and from everyday matters
that no set is about; then changed so that on SQuAD 2 the probability is about right, and so that
`FAIR` loses few answerable questions. `docs/search-quality.md` has the figures.
"""

import math
from collections.abc import Sequence

from kebab.core.model_profile import AnswerabilityCurve
from kebab.core.queries import StoredChunk
from kebab.search.fusion import Calibration
from kebab.search.query_intent import compute_coverage, weigh_keywords
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache

LOOKED_AT = 5
"""How many of the first hits are read."""


_LEXICAL = AnswerabilityCurve(words=3.71, cosine=0.0, evidence=6.47, length=0.714, start=-5.37)


def calibrate(ranking: RankedCandidates, reading: PassageCache) -> Calibration:
    """Return what the evidence of a ranking is worth."""
    best = ranking.order[0][1] if ranking.order else 0.0
    return Calibration(estimate_answerability(ranking, reading), best)


def estimate_answerability(ranking: RankedCandidates, reading: PassageCache) -> float:
    """Return the probability that the first hit is one, between 0 and 1.

    What passes filters and nothing else was asked for is certain.
    """
    if not ranking.order:
        return 0.0
    asked = ranking.words.asked
    if not asked:
        return 1.0
    first = reading.load_chunks([key for key, _ in ranking.order[:LOOKED_AT]])
    curve = _curve(ranking, first)
    weights = weigh_keywords(asked)
    held = max((compute_coverage(weights, reading.tokens(chunk)) for chunk in first), default=0.0)
    sum_ = (
        curve.start
        + curve.words * held
        + curve.cosine * _cosine(ranking, first)
        + curve.evidence * ranking.order[0][1]
        + curve.length * math.log(len(asked))
    )
    return 1 / (1 + math.exp(-sum_))


def _curve(ranking: RankedCandidates, first: Sequence[StoredChunk]) -> AnswerabilityCurve:
    """Return the curve for the channels that found these chunks."""
    if ranking.model is None or not any(chunk.key in ranking.vector for chunk in first):
        return _LEXICAL
    curves = ranking.model.answerability
    return curves.hybrid if any(chunk.key in ranking.lexical for chunk in first) else curves.vector


def _cosine(ranking: RankedCandidates, first: Sequence[StoredChunk]) -> float:
    """Return the highest cosine, on the scale of its model."""
    if ranking.model is None:
        return 0.0
    scale = ranking.model.cosine_scale
    return max(
        (
            scale.share(ranking.vector.scores[chunk.key])
            for chunk in first
            if chunk.key in ranking.vector
        ),
        default=0.0,
    )
