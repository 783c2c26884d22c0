"""Calibration: what a score means, the same in every query.

A score is the logistic of the evidence, so it keeps the order. Slope and middle were fitted per
method on SQuAD 2 with MiniLM (int8): first hits of 1,000 answerable questions, right or wrong, of
500 questions on the same articles that nothing answers, and of 30 questions on other matters
(weighted fivefold), as the probability that the first hit is right. Measured there, hybrid: of
off-topic questions none is `strong` and 7 % are `fair`; of the unanswerable ones 6 % are `strong`;
of the right first hits 96 % are at least `fair`, and 92 % of the `strong` ones are right.
"""

import math
from dataclasses import dataclass

from kebab.core.hit import Confidence
from kebab.core.query import Mode

STRONG = 0.75
FAIR = 0.3


@dataclass(frozen=True, slots=True)
class _Curve:
    slope: float
    middle: float


_CURVES = {
    Mode.HYBRID: _Curve(6.5, 0.451),
    Mode.LEXICAL: _Curve(5.2, 0.428),
    Mode.VECTOR: _Curve(6.1, 0.613),
}
_STEEPEST = 60.0


def score(evidence: float, method: Mode) -> float:
    """Return the calibrated score of fused evidence, between 0 and 1, rising with it.

    `method` names the channels that the evidence is of.
    """
    curve = _CURVES[method]
    bend = curve.slope * (curve.middle - evidence)
    return 1 / (1 + math.exp(min(bend, _STEEPEST)))


def confidence(value: float) -> Confidence:
    """Return how far a calibrated score can be trusted to mean an answer."""
    if value >= STRONG:
        return Confidence.STRONG
    return Confidence.FAIR if value >= FAIR else Confidence.WEAK
