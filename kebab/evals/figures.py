"""From outcomes to figures: what share was found, how high, and how honest the scores are."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from kebab.evals import resample
from kebab.evals.judge import DEPTH
from kebab.evals.resample import Estimate
from kebab.wire.evals import EvalBin, EvalFigure, EvalOutcome, MetricName, PairedMetric

BINS = 10

METRICS: dict[PairedMetric, Callable[[EvalOutcome], float]] = {
    "hit@1": lambda one: float(_within(one, 1)),
    "hit@5": lambda one: float(_within(one, 5)),
    "hit@10": lambda one: float(_within(one, 10)),
    "mrr@10": lambda one: 1 / one.rank if one.rank and one.rank <= DEPTH else 0.0,
    "ndcg@10": lambda one: one.ndcg,
}
"""What each answerable question is worth; a figure is the mean."""


def figures(outcomes: Sequence[EvalOutcome]) -> list[EvalFigure]:
    """Return every metric of a mode."""
    asked = [one for one in outcomes if one.answerable]
    return [
        *(_share(name, resample.mean([*map(worth, asked)])) for name, worth in METRICS.items()),
        _share("empty_rate", resample.mean([float(one.hits == 0) for one in asked])),
        *_refusals(outcomes),
        _share("calibration_error", _calibration_error(outcomes)),
        *_times(outcomes),
    ]


def hit_curve(outcomes: Sequence[EvalOutcome], limit: int) -> list[float]:
    """Return hit@k for each k up to the limit."""
    asked = [one for one in outcomes if one.answerable]
    if not asked:
        return []
    return [sum(_within(one, k) for one in asked) / len(asked) for k in range(1, limit + 1)]


def reliability(outcomes: Sequence[EvalOutcome]) -> list[EvalBin]:
    """Return first hits in ten bins of equal width by score, whether answerable or not.

    The diagram and `calibration_error`, the mean distance of score and share over bins weighted
    by their sizes, are those of Guo et al., "On calibration of modern neural networks", ICML 2017.
    """
    return [_bin(place, outcomes) for place in range(BINS)]


def _bin(place: int, outcomes: Sequence[EvalOutcome]) -> EvalBin:
    inside = [(score, right) for score, right in _judged(outcomes) if _place(score) == place]
    share = resample.mean([float(right) for _, right in inside])
    return EvalBin(
        start=place / BINS,
        end=(place + 1) / BINS,
        count=len(inside),
        mean_score=sum(score for score, _ in inside) / len(inside) if inside else None,
        right=share.value,
        low=share.low,
        high=share.high,
    )


def _calibration_error(outcomes: Sequence[EvalOutcome]) -> Estimate:
    gaps = [(_place(score), score - right) for score, right in _judged(outcomes)]
    return resample.mean_gap(gaps, BINS)


def _judged(outcomes: Sequence[EvalOutcome]) -> Iterator[tuple[float, bool]]:
    """Yield the score of each first hit, and whether it is right."""
    return ((one.score, one.rank == 1) for one in outcomes if one.score is not None)


def _place(score: float) -> int:
    return min(BINS - 1, int(score * BINS))


def _refusals(outcomes: Sequence[EvalOutcome]) -> Iterator[EvalFigure]:
    """Yield how well refusing tells questions that nothing answers; unknown without such ones.

    Precision is the share of them among refused questions, recall the share of them that is
    refused, and false refusals are the share of the others that is.
    """
    names: tuple[MetricName, ...] = ("refusal_precision", "refusal_recall", "false_refusal_rate")
    bare = not any(not one.answerable for one in outcomes)
    pairs = (
        [] if bare else [(one.refused and not one.answerable, one.refused) for one in outcomes],
        [(one.refused, True) for one in outcomes if not one.answerable],
        [(one.refused, True) for one in outcomes if one.answerable],
    )
    for name, chosen in zip(names, pairs, strict=True):
        yield _share(name, resample.ratio(chosen))


def _times(outcomes: Sequence[EvalOutcome]) -> Iterator[EvalFigure]:
    times = [one.duration_ms for one in outcomes]
    yield _figure("median_ms", resample.quantile(times, 0.5), "ms")
    yield _figure("p95_ms", resample.quantile(times, 0.95), "ms")


def _within(outcome: EvalOutcome, k: int) -> bool:
    return outcome.rank is not None and outcome.rank <= k


def _share(name: MetricName, estimate: Estimate) -> EvalFigure:
    return _figure(name, estimate, "share")


def _figure(name: MetricName, estimate: Estimate, unit: Literal["share", "ms"]) -> EvalFigure:
    return EvalFigure(
        metric=name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        count=estimate.count,
        unit=unit,
    )
