"""Judges the relevance of hits and computes metrics."""

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
"""The number of hits that MRR and nDCG look at."""


def find_rank(question: Question, hits: Sequence[SearchHit]) -> int | None:
    """Return the 1-based rank of the first relevant hit, or None when there is none."""
    return next((rank for rank, hit in enumerate(hits, 1) if is_relevant(question, hit)), None)


def is_relevant(question: Question, hit: SearchHit) -> bool:
    """Return whether a hit answers: by document and lines, or by a grade above 0."""
    if not question.answerable:
        return False
    if question.doc is not None and is_same_document(question.doc, hit.doc_path):
        return question.lines is None or _overlaps_citation(question.lines, hit.citation)
    return _find_grade(hit.doc_path, question.relevant)[1] > 0


def is_same_document(doc: str, path: str) -> bool:
    """Return whether `doc` is `path`, or its last parts."""
    return split_path(doc) in list_path_suffixes(path)


def split_path(path: str) -> tuple[str, ...]:
    """Return the parts of a path, in NFC."""
    parts = unicodedata.normalize("NFC", path).split("/")
    return tuple(part for part in parts if part not in ("", "."))


@lru_cache(maxsize=1 << 16)
def list_path_suffixes(path: str) -> tuple[tuple[str, ...], ...]:
    """Return all parts of a path, all but the first, and so on."""
    parts = split_path(path)
    return tuple(parts[start:] for start in range(len(parts)))


def compute_ndcg(question: Question, hits: Sequence[SearchHit]) -> float:
    """Return nDCG@10: of documents where there are grades, else of the relevant hit alone.

    DCG is the sum of `grade / log2(1 + rank)`, divided by that of the best order (Järvelin and
    Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, in the
    form of trec_eval's `ndcg_cut`: linear gain, no discount at rank 1). The rank of a document is
    that of its first passage.
    """
    if not question.relevant:
        rank = find_rank(question, hits)
        return _compute_dcg([0] * (rank - 1) + [1]) if rank is not None and rank <= DEPTH else 0.0
    best = sorted((grade for grade in question.relevant.values() if grade > 0), reverse=True)
    ideal = _compute_dcg(best[:DEPTH])
    return _compute_dcg(_list_gains(question.relevant, hits)[:DEPTH]) / ideal if ideal else 0.0


def _list_gains(relevant: Mapping[str, int], hits: Sequence[SearchHit]) -> list[int]:
    """Return the grade of each document in the order of its first hit; no grade counts twice."""
    unused = dict(relevant)
    gains = []
    for path in dict.fromkeys(hit.doc_path for hit in hits):
        name, grade = _find_grade(path, unused)
        unused.pop(name, None)
        gains.append(grade)
    return gains


def _find_grade(path: str, relevant: Mapping[str, int]) -> tuple[str, int]:
    """Return the best judgement of a document: its name there, and a grade of at least 0."""
    matching = (
        (max(0, grade), doc) for doc, grade in relevant.items() if is_same_document(doc, path)
    )
    grade, name = max(matching, default=(0, ""))
    return name, grade


def _compute_dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def _overlaps_citation(lines: tuple[int, int], citation: Citation) -> bool:
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
    "hit@1": lambda one: float(_has_hit(one, 1)),
    "hit@5": lambda one: float(_has_hit(one, 5)),
    "hit@10": lambda one: float(_has_hit(one, 10)),
    "mrr@10": lambda one: 1 / one.rank if one.rank and one.rank <= DEPTH else 0.0,
    "ndcg@10": lambda one: one.ndcg,
}
"""By metric, the value of one answerable question; the figure of a mode is the mean."""


def compute_figures(outcomes: Sequence[EvalOutcome]) -> list[EvalFigure]:
    """Return every metric of a mode."""
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    figures = [
        _build_figure(name, bootstrap.estimate_mean([*map(compute, answerable)]))
        for name, compute in METRICS.items()
    ]
    empty = bootstrap.estimate_mean([float(one.hits == 0) for one in answerable])
    times = [outcome.duration_ms for outcome in outcomes]
    return [
        *figures,
        _build_figure("empty_rate", empty),
        *_compute_refusals(outcomes),
        _build_figure("calibration_error", _estimate_calibration_error(outcomes)),
        _build_figure("median_ms", bootstrap.estimate_quantile(times, 0.5), "ms"),
        _build_figure("p95_ms", bootstrap.estimate_quantile(times, 0.95), "ms"),
    ]


def compute_hit_curve(outcomes: Sequence[EvalOutcome], limit: int) -> list[float]:
    """Return hit@k for each k up to the limit."""
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    if not answerable:
        return []
    return [
        sum(_has_hit(one, k) for one in answerable) / len(answerable) for k in range(1, limit + 1)
    ]


def compute_reliability(outcomes: Sequence[EvalOutcome]) -> list[EvalBin]:
    """Return the first hits of all questions in ten bins of equal width by score.

    The diagram and `calibration_error`, the mean distance of score and share over bins weighted
    by their sizes, are those of Guo et al., "On calibration of modern neural networks", ICML 2017.
    """
    return [_build_bin(number, outcomes) for number in range(BINS)]


def _build_bin(number: int, outcomes: Sequence[EvalOutcome]) -> EvalBin:
    inside = [
        (score, ok) for score, ok in _judge_first_hits(outcomes) if _find_bin(score) == number
    ]
    share = bootstrap.estimate_mean([float(ok) for _, ok in inside])
    return EvalBin(
        start=number / BINS,
        end=(number + 1) / BINS,
        count=len(inside),
        mean_score=sum(score for score, _ in inside) / len(inside) if inside else None,
        right=share.value,
        low=share.low,
        high=share.high,
    )


def _estimate_calibration_error(outcomes: Sequence[EvalOutcome]) -> Estimate:
    gaps = [(_find_bin(score), score - ok) for score, ok in _judge_first_hits(outcomes)]
    return bootstrap.estimate_mean_gap(gaps, BINS)


def _judge_first_hits(outcomes: Sequence[EvalOutcome]) -> Iterator[tuple[float, bool]]:
    """Yield the score of each first hit, and whether it is relevant."""
    return ((outcome.score, outcome.rank == 1) for outcome in outcomes if outcome.score is not None)


def _find_bin(score: float) -> int:
    return min(BINS - 1, int(score * BINS))


def _compute_refusals(outcomes: Sequence[EvalOutcome]) -> Iterator[EvalFigure]:
    """Yield how well refusals detect unanswerable questions; undefined without such questions.

    Precision is the share of unanswerable questions among the refused ones, recall the share of
    refused questions among the unanswerable ones, and the false refusal rate the share of refused
    questions among the answerable ones.
    """
    unanswerable = [outcome for outcome in outcomes if not outcome.answerable]
    judged = outcomes if unanswerable else []
    precision = [(one.refused and not one.answerable, one.refused) for one in judged]
    recall = [(one.refused, True) for one in unanswerable]
    false = [(outcome.refused, True) for outcome in outcomes if outcome.answerable]
    yield _build_figure("refusal_precision", bootstrap.estimate_ratio(precision))
    yield _build_figure("refusal_recall", bootstrap.estimate_ratio(recall))
    yield _build_figure("false_refusal_rate", bootstrap.estimate_ratio(false))


def _has_hit(outcome: EvalOutcome, k: int) -> bool:
    return outcome.rank is not None and outcome.rank <= k


def _build_figure(
    name: MetricName, estimate: Estimate, unit: Literal["share", "ms"] = "share"
) -> EvalFigure:
    return EvalFigure(
        metric=name,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        count=estimate.count,
        unit=unit,
    )
