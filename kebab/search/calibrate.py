"""Calibration: what a score means, the same in every query, mode and knowledge base.

The first hit's score is the conviction that it answers; that of every other falls with its evidence
beside the first. The exponent lies between those that fit sets with one right passage a question
best (SQuAD 2: 8 to 10, JaQuAD: 6) and one with many (Cranfield: 2 to 3).
"""

from dataclasses import dataclass

from kebab.core.hit import Confidence

STRONG = 0.8
FAIR = 0.3

_FALL = 4


@dataclass(frozen=True, slots=True)
class Scale:
    """What evidence is worth in one query: `best` is that of its first hit."""

    conviction: float
    best: float

    def score(self, evidence: float) -> float:
        """Return the calibrated score of fused evidence, between 0 and 1, rising with it."""
        if evidence >= self.best:
            return self.conviction
        return self.conviction * max(0.0, evidence / self.best) ** _FALL if self.best > 0 else 0.0


def standing(score: float, best: float) -> float:
    """Return the evidence of a hit as a share of the best one's, from 0 to 1."""
    return (score / best) ** (1 / _FALL) if best > 0 else 0.0


def confidence(value: float) -> Confidence:
    """Return how far a calibrated score can be trusted to mean an answer."""
    if value >= STRONG:
        return Confidence.STRONG
    return Confidence.FAIR if value >= FAIR else Confidence.WEAK
