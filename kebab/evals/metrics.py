"""Judges hits and computes metrics."""

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from kebab.evals import bootstrap
from kebab.evals.bootstrap import Estimate
from kebab.evals.golden import Question
from kebab.wire.citation import Citation, CodeCitation, LineCitation
from kebab.wire.evals import EvalBin, EvalFigure, EvalOutcome, MetricName, PairedMetric
from kebab.wire.search import SearchHit

DEPTH = 10
"""How far MRR and nDCG look."""


def find_rank(question: Question, hits: Sequence[SearchHit]) -> int | None:
    """Return the place of the first right hit, 1-based, None when there is none."""
    return next((place for place, hit in enumerate(hits, 1) if is_relevant(question, hit)), None)


def is_relevant(question: Question, hit: SearchHit) -> bool:
    """Return whether a hit answers: by document and lines, or by a grade above 0."""
    if not question.answerable:
        return False
    if question.doc is not None and is_same_document(question.doc, hit.doc_path):
        return question.lines is None or _overlaps(question.lines, hit.citation)
    return _grade(hit.doc_path, question.relevant)[1] > 0


def is_same_document(doc: str, path: str) -> bool:
    """Return whether `doc` is `path`, or whole names at its end."""
    return split_path(doc) in list_path_suffixes(path)


def split_path(path: str) -> tuple[str, ...]:
    """Return the names that a path is made of."""
    whole = unicodedata.normalize("NFC", path)
    return tuple(name for name in whole.split("/") if name not in ("", "."))


@lru_cache(maxsize=1 << 16)
def list_path_suffixes(path: str) -> tuple[tuple[str, ...], ...]:
    """Return the names at the end of a path: all of them, all but the first, and so on."""
    names = split_path(path)
    return tuple(names[start:] for start in range(len(names)))


def compute_ndcg(question: Question, hits: Sequence[SearchHit]) -> float:
    """Return nDCG@10: of documents where there are grades, else of the right hit alone.

    DCG is the sum of `grade / log2(1 + rank)`, divided by that of the best order (Järvelin and
    Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, in the
    form of trec_eval's `ndcg_cut`: linear gain, no discount at rank 1). A document stands where
    its first passage does.
    """
    if not question.relevant:
        rank = find_rank(question, hits)
        return _discounted([0] * (rank - 1) + [1]) if rank is not None and rank <= DEPTH else 0.0
    best = sorted((grade for grade in question.relevant.values() if grade > 0), reverse=True)
    ideal = _discounted(best[:DEPTH])
    return _discounted(_gains(question.relevant, hits)[:DEPTH]) / ideal if ideal else 0.0


def _gains(relevant: Mapping[str, int], hits: Sequence[SearchHit]) -> list[int]:
    """Return the grade of each document in the order of its first hit; no grade counts twice."""
    left = dict(relevant)
    gains = []
    for path in dict.fromkeys(hit.doc_path for hit in hits):
        name, grade = _grade(path, left)
        left.pop(name, None)
        gains.append(grade)
    return gains


def _grade(path: str, relevant: Mapping[str, int]) -> tuple[str, int]:
    """Return the best judgement on a document: its name there, and a grade from 0."""
    found = ((max(0, grade), doc) for doc, grade in relevant.items() if is_same_document(doc, path))
    grade, name = max(found, default=(0, ""))
    return name, grade


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def _overlaps(lines: tuple[int, int], citation: Citation) -> bool:
    match citation:
        case LineCitation():
            first, last = citation.line.start, citation.line.end
        case CodeCitation():
            first, last = citation.code.start, citation.code.end
        case _:
            return False
    return first <= lines[1] and lines[0] <= last


BINS = 10

METRICS: dict[PairedMetric, Callable[[EvalOutcome], float]] = {
    "hit@1": lambda one: float(_within(one, 1)),
    "hit@5": lambda one: float(_within(one, 5)),
    "hit@10": lambda one: float(_within(one, 10)),
    "mrr@10": lambda one: 1 / one.rank if one.rank and one.rank <= DEPTH else 0.0,
    "ndcg@10": lambda one: one.ndcg,
}
"""What each answerable question is worth; a figure is the mean."""


def compute_figures(outcomes: Sequence[EvalOutcome]) -> list[EvalFigure]:
    """Return every metric of a mode."""
    asked = [one for one in outcomes if one.answerable]
    return [
        *(
            _share(name, bootstrap.estimate_mean([*map(worth, asked)]))
            for name, worth in METRICS.items()
        ),
        _share("empty_rate", bootstrap.estimate_mean([float(one.hits == 0) for one in asked])),
        *_refusals(outcomes),
        _share("calibration_error", _calibration_error(outcomes)),
        *_times(outcomes),
    ]


def compute_hit_curve(outcomes: Sequence[EvalOutcome], limit: int) -> list[float]:
    """Return hit@k for each k up to the limit."""
    asked = [one for one in outcomes if one.answerable]
    if not asked:
        return []
    return [sum(_within(one, k) for one in asked) / len(asked) for k in range(1, limit + 1)]


def compute_reliability(outcomes: Sequence[EvalOutcome]) -> list[EvalBin]:
    """Return first hits in ten bins of equal width by score, whether answerable or not.

    The diagram and `calibration_error`, the mean distance of score and share over bins weighted
    by their sizes, are those of Guo et al., "On calibration of modern neural networks", ICML 2017.
    """
    return [_bin(place, outcomes) for place in range(BINS)]


def _bin(place: int, outcomes: Sequence[EvalOutcome]) -> EvalBin:
    inside = [(score, right) for score, right in _judged(outcomes) if _place(score) == place]
    share = bootstrap.estimate_mean([float(right) for _, right in inside])
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
    return bootstrap.estimate_mean_gap(gaps, BINS)


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
        yield _share(name, bootstrap.estimate_ratio(chosen))


def _times(outcomes: Sequence[EvalOutcome]) -> Iterator[EvalFigure]:
    times = [one.duration_ms for one in outcomes]
    yield _figure("median_ms", bootstrap.estimate_quantile(times, 0.5), "ms")
    yield _figure("p95_ms", bootstrap.estimate_quantile(times, 0.95), "ms")


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
