"""Fits the curves of answerability by logistic regression.

Every set counts as much as any other, and in it the questions with an answer as much as those
without one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from kebab.core.chunks import AnswerabilityCurve
from kebab.search.answerability import FAIR, PrecisionCurve, compute_logit, compute_probability
from tools.calibrate.cases import Case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

_STEPS, _DECAY = 50, 0.05
_ROUNDS = 6
"""How often the best passage of each case is chosen anew with the weights of the last fit."""

START = AnswerabilityCurve(words=1.0, cosine=1.0, evidence=0.0, length=0.0, start=0.0)
Names: TypeAlias = tuple[str, ...]
HYBRID: Names = ("words", "cosine", "margin")
VECTOR: Names = ("cosine", "margin")
MATCHED: Names = ("cosine", "margin", "match")
LEXICAL: Names = ("words", "evidence", "length")


def is_found(case: Case) -> bool:
    """Return whether the first ten hits of a question hold its answer."""
    return case.rank is not None


def is_judged(case: Case) -> bool:
    """Return whether a case counts for the curve: it has no answer, or it was found."""
    return case.kind != "own" or is_found(case)


def fit_curve(cases: Sequence[Case], names: Names, lost: float) -> AnswerabilityCurve:
    """Return the curve that separates questions with an answer from those without one.

    Args:
        cases: The cases of several sets.
        names: The weights that are fitted; the others are 0.
        lost: The share of the questions with an answer that may be below fair confidence.
    """
    judged = [case for case in cases if is_judged(case)]
    curve = replace(START, words=float("words" in names), cosine=float("cosine" in names))
    for _ in range(_ROUNDS):
        rows = [_list_features(case, curve, names) for case in judged]
        weights = fit_logistic(rows, [is_found(case) for case in judged], weigh_cases(judged))
        start, *rest = weights
        curve = replace(START, words=0.0, cosine=0.0, start=start)
        curve = replace(curve, **dict(zip(names, rest, strict=True)))
    return _place(curve, judged, lost)


def _list_features(case: Case, curve: AnswerabilityCurve, names: Names) -> list[float]:
    """Return the features of a case, with those of the best passage by a curve."""
    signals = case.signals
    words, cosine, _ = max(
        signals.passages, key=lambda one: curve.words * one[0] + curve.cosine * one[1]
    )
    values = {
        "words": words,
        "cosine": cosine,
        "margin": signals.margin,
        "match": signals.match or 0.0,
        "evidence": signals.evidence,
        "length": signals.length,
    }
    return [1.0, *(values[name] for name in names)]


def _place(curve: AnswerabilityCurve, cases: Sequence[Case], lost: float) -> AnswerabilityCurve:
    """Return a curve moved so that no more than the given share of the found ones is weak."""
    found = [case for case in cases if is_found(case)]
    weights = weigh_cases(found)
    scored = sorted(
        (compute_probability(curve, case.signals), weight)
        for case, weight in zip(found, weights, strict=True)
    )
    left, limit = lost * sum(weights), 0.0
    for limit, weight in scored:  # noqa: B007 - the first one that is kept
        left -= weight
        if left < 0:
            break
    return replace(curve, start=curve.start + compute_logit(FAIR) - compute_logit(limit))


def fit_precision(cases: Sequence[Case]) -> PrecisionCurve:
    """Return the curve of the probability that the first hit is the right one."""
    own = [case for case in cases if case.kind == "own"]
    rows = [
        [1.0, case.signals.rival, case.signals.intent.topic, case.signals.intent.need]
        for case in own
    ]
    start, rival, topic, need = fit_logistic(
        rows, [case.rank == 1 for case in own], weigh_cases(own)
    )
    return PrecisionCurve(rival=rival, topic=topic, need=need, start=start)


def weigh_cases(cases: Sequence[Case]) -> list[float]:
    """Return weights by which every set and kind counts as much."""
    keys = [(case.dataset, case.questions, case.kind == "own") for case in cases]
    counts = Counter(keys)
    return [10 / counts[key] for key in keys]


def fit_logistic(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], costs: Sequence[float]
) -> list[float]:
    """Return the weights of a logistic regression by Newton's method, with a small decay."""
    import numpy as np

    x, y, cost = np.array(rows), np.array(labels, float), np.array(costs)
    decay = np.full(x.shape[1], _DECAY)
    decay[0] = 0.0
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slopes = x.T @ (cost * (chances - y)) + decay * weights
        curvature = (x.T * (cost * chances * (1 - chances))) @ x
        weights -= np.linalg.solve(curvature + np.diag(decay + 1e-9), slopes)
    return [float(weight) for weight in weights]


Predict: TypeAlias = Callable[[Sequence[Case]], list[float]]


def predict_left_out(
    cases: Sequence[Case], fit: Callable[[Sequence[Case]], Predict]
) -> list[float]:
    """Return the scores of all cases, each from a fit without the sets of the same source."""
    scores = [0.0] * len(cases)
    groups = [case.dataset.split("-")[0] for case in cases]
    for group in set(groups):
        inside = [number for number, name in enumerate(groups) if name == group]
        rest = [case for case, name in zip(cases, groups, strict=True) if name != group]
        predict = fit(rest or cases)
        for number, score in zip(inside, predict([cases[one] for one in inside]), strict=True):
            scores[number] = score
    return scores
