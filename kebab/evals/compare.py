"""Compares two evaluation reports on the same golden set, question by question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kebab.errors.catalog import InvalidInput
from kebab.evals import bootstrap
from kebab.evals.golden import read_report
from kebab.evals.metrics import METRICS
from kebab.text.normalize import escape_undecodable
from kebab.wire.evals import (
    EvalChange,
    EvalComparison,
    EvalMode,
    EvalOutcome,
    EvalPair,
    EvalReport,
    EvalSide,
    PairedMetric,
)
from kebab.wire.search import ModeName

OutcomePairs: TypeAlias = list[tuple[EvalOutcome, EvalOutcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What to compare. Without `modes` all modes of both reports; `against` is a mode of b."""

    modes: tuple[ModeName, ...] = ()
    metrics: tuple[PairedMetric, ...] = ("mrr@10",)
    against: ModeName | None = None


def compare_reports(before: Path, after: Path, options: CompareOptions) -> EvalComparison:
    """Compare two reports.

    Raises:
        InvalidInput: A file is no report, the questions differ, or a mode is missing.
        IoError: A file cannot be read.
    """
    a, b = read_report(before), read_report(after)
    if a.golden.digest != b.golden.digest:
        cause = f"measured on another golden set, or judged otherwise, than {before}"
        raise InvalidInput(field=str(after), cause=cause)
    return EvalComparison(
        a=_describe_side(before, a),
        b=_describe_side(after, b),
        digest=a.golden.digest,
        questions=a.golden.answerable,
        pairs=list(_compare_modes((before, a), (after, b), options)),
        test="sign_flip",
        flips=bootstrap.FLIPS,
        resamples=bootstrap.RESAMPLES,
        level=bootstrap.LEVEL,
        seed=bootstrap.SEED,
    )


def _describe_side(path: Path, report: EvalReport) -> EvalSide:
    return EvalSide(
        path=escape_undecodable(str(path)),
        measured_at=report.timestamp if isinstance(report.timestamp, str) else None,
        versions=report.versions,
        corpus_revision=report.corpus_revision,
    )


def _compare_modes(
    a: tuple[Path, EvalReport], b: tuple[Path, EvalReport], options: CompareOptions
) -> Iterator[EvalPair]:
    others = {mode.mode for mode in b[1].modes}
    shared = [mode.mode for mode in a[1].modes if mode.mode in others]
    modes = list(dict.fromkeys(options.modes)) or shared
    if not modes:
        raise InvalidInput(field=str(b[0]), cause=f"it has no mode in common with {a[0]}")
    for mode in modes:
        one, other = _get_mode(*a, mode), _get_mode(*b, options.against or mode)
        pairs = _pair_outcomes(one.outcomes, other.outcomes, b[0])
        for metric in dict.fromkeys(options.metrics):
            yield _compare_metric(metric, one.mode, other.mode, pairs)


def _get_mode(path: Path, report: EvalReport, name: ModeName) -> EvalMode:
    mode = next((mode for mode in report.modes if mode.mode == name), None)
    if mode is None:
        raise InvalidInput(field=str(path), cause=f"`{name}` was not measured")
    return mode


def _pair_outcomes(a: Sequence[EvalOutcome], b: Sequence[EvalOutcome], path: Path) -> OutcomePairs:
    """Return the outcomes of each answerable question on both sides."""
    first = {one.id: one for one in a if one.answerable}
    second = {one.id: one for one in b if one.answerable}
    if not first or first.keys() != second.keys():
        raise InvalidInput(field=str(path), cause="no outcome of each question is in both reports")
    return [(one, second[name]) for name, one in first.items()]


def _compare_metric(
    metric: PairedMetric, mode_a: ModeName, mode_b: ModeName, pairs: OutcomePairs
) -> EvalPair:
    compute = METRICS[metric]
    values = [(compute(a), compute(b)) for a, b in pairs]
    differences = [after - before for before, after in values]
    changes = [
        EvalChange(id=a.id, query=a.query, difference=difference, rank_a=a.rank, rank_b=b.rank)
        for (a, b), difference in zip(pairs, differences, strict=True)
        if difference
    ]
    changes.sort(key=lambda change: abs(change.difference), reverse=True)
    better = [change for change in changes if change.difference > 0]
    worse = [change for change in changes if change.difference < 0]
    mean, low, high = bootstrap.estimate_mean(differences).require_values()
    return EvalPair(
        mode_a=mode_a,
        mode_b=mode_b,
        metric=metric,
        a=sum(before for before, _ in values) / len(values),
        b=sum(after for _, after in values) / len(values),
        difference=mean,
        low=low,
        high=high,
        p_value=bootstrap.compute_p_value(differences),
        wins=len(better),
        losses=len(worse),
        ties=len(values) - len(changes),
        better=better,
        worse=worse,
    )
