"""Fits the weights of the doubts about an answer, and measures them on documents left out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5

from kebab.rag.answer_check import WEIGHTS, DoubtKind, compute_logit
from tools.absence.swaps import Question

FEATURES = tuple(WEIGHTS)
_STEPS, _DECAY = 20, 1.0
RATES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2)
"""The shares of flagged answerable questions at which the curve is measured."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered: the refusal or None, the codes of its doubts, and the score."""

    question: Question
    refusal: str | None
    uncertain: bool
    doubts: frozenset[str]
    top_score: float

    @property
    def answered(self) -> bool:
        """Whether the question has an answer, so that flagging it is an error."""
        return self.question.kind == "answerable"

    @property
    def absent(self) -> bool:
        """Whether an absent term flags the answer whatever the weights are."""
        return DoubtKind.ABSENT_TERM in self.doubts

    @property
    def features(self) -> list[float]:
        """The start, the doubts, and the logit of the answerability."""
        doubts = [-float(kind in self.doubts) for kind in FEATURES]
        return [1.0, *doubts, compute_logit(self.top_score)]


def is_second_half(document: str) -> bool:
    """Return whether a document belongs to the second half; the halves never change."""
    return md5(document.encode(), usedforsecurity=False).digest()[0] % 2 == 1


def fit_weights(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the weights of a logistic regression, in the order of `Outcome.features`.

    Both classes count as much. Newton's method with a small decay. Without outcomes all are 0.
    """
    import numpy as np

    if not outcomes:
        return [0.0] * (len(FEATURES) + 2)
    rows = np.array([one.features for one in outcomes])
    labels = np.array([float(one.answered) for one in outcomes])
    sizes = np.array([max(1.0, np.sum(labels == value)) for value in (0.0, 1.0)])
    costs = len(labels) / 2 / sizes[labels.astype(int)]
    decay = np.full(rows.shape[1], _DECAY)
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slopes = rows.T @ (costs * (chances - labels)) + decay * weights
        curvature = (rows.T * (costs * chances * (1 - chances))) @ rows + np.diag(decay)
        weights = weights - np.linalg.solve(curvature, slopes)
    return [float(weight) for weight in weights]


def measure_curve(outcomes: Sequence[Outcome]) -> list[tuple[float, float]]:
    """Return the share of flagged questions without an answer for each rate of `RATES`.

    The weights are fitted on one half of the documents and used on the other, both ways.
    """
    scored: list[tuple[float, Outcome]] = []
    for second in (False, True):
        half = [one for one in outcomes if is_second_half(one.question.document) is not second]
        weights = fit_weights(half)
        for one in outcomes:
            if is_second_half(one.question.document) is second:
                score = -1.0 if one.absent else _predict(weights, one.features)
                scored.append((score, one))
    right = sorted(score for score, one in scored if one.answered)
    wrong = [score for score, one in scored if not one.answered]
    curve = []
    for rate in RATES:
        limit = right[min(len(right) - 1, int(rate * len(right)))]
        curve.append((rate, sum(score < limit for score in wrong) / (len(wrong) or 1)))
    return curve


def _predict(weights: Sequence[float], features: Sequence[float]) -> float:
    total = sum(weight * value for weight, value in zip(weights, features, strict=True))
    return 1 / (1 + math.exp(-total))
