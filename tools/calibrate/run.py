"""Fits the curves of a model over evaluation sets, and prints them with what they decide.

Run from a checkout: `python -m tools.calibrate SETS --bases FOLDER --model NAME --cases FILE`. The
cases are collected once and kept in the file; without it they are collected again. The table shows
every set with the curves of the rows today, and with curves fitted without the sets of its source.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kebab.core.chunks import Answerability, AnswerabilityCurve
from kebab.embed.registry import find_model
from kebab.search.answerability import (
    FAIR,
    LEXICAL,
    PRECISION,
    PrecisionCurve,
    combine,
    compute_found,
    compute_precision,
)
from tools.calibrate import fit
from tools.calibrate.cases import MODES, Case, Collector, load_cases, save_cases
from tools.quality.sets import find_sets

_BINS = 10
_FOREIGN_LOSS = 4
"""Across languages this many times more answers may be weak: the curves separate them worse."""


def main(arguments: list[str]) -> int:
    """Print the curves and the tables; return 0."""
    chosen = _build_parser().parse_args(arguments)
    if not chosen.cases.exists():
        _collect(chosen)
    cases = [case for case in load_cases(chosen.cases) if case.signals.passages]
    today = Curves(find_model(chosen.model).answerability, LEXICAL, PRECISION)
    for line in render(cases, today, chosen.lost):
        print(line, flush=True)  # noqa: T201 - the output of the program
    return 0


def _collect(chosen: argparse.Namespace) -> None:
    sets = list(find_sets(chosen.sets))
    collector = Collector(
        model=chosen.model,
        bases=chosen.bases,
        every=chosen.every,
        modes=chosen.modes,
        whole=chosen.whole,
    )
    for one in sets:
        if not chosen.only or one.name in chosen.only:
            save_cases(chosen.cases, list(collector.collect(one, sets)))


class Curves:
    """The curves that a table is made with.

    Args:
        model: The curves of the model.
        lexical: The curve of words alone.
        precision: The curve of the first hit.
    """

    def __init__(
        self, model: Answerability, lexical: AnswerabilityCurve, precision: PrecisionCurve
    ) -> None:
        self.model = model
        self.lexical = lexical
        self.precision = precision

    def score(self, case: Case) -> float:
        """Return the answerability of a search."""
        model = None if case.mode == "lexical" else self.model
        found = compute_found(case.signals, model, self.lexical)
        return combine(found, compute_precision(self.precision, case.signals), case.signals)


def fit_curves(cases: Sequence[Case], today: Curves, lost: float) -> Curves:
    """Return curves fitted over cases; those without any case stay as they are."""

    def select(mode: str, *, foreign: bool = False) -> list[Case]:
        return [case for case in cases if case.mode == mode and case.foreign is foreign]

    compared = [case for case in select("hybrid") if case.signals.by_vectors]
    vectors = [case for case in select("vector") if case.signals.by_vectors]
    foreign = [
        case
        for case in cases
        if case.mode == "hybrid" and case.signals.by_vectors and case.signals.foreign
    ]
    matched = [case for case in foreign if case.signals.match]
    hybrid = fit.fit_curve(compared, fit.HYBRID, lost) if compared else today.model.hybrid
    return Curves(
        Answerability(
            hybrid=hybrid,
            vector=fit.fit_curve(vectors, fit.VECTOR, lost) if vectors else today.model.vector,
            absent=today.model.absent,
            foreign=fit.fit_curve(foreign, fit.VECTOR, _FOREIGN_LOSS * lost)
            if any(case.foreign for case in foreign)
            else today.model.foreign,
            matched=fit.fit_curve(matched, fit.MATCHED, _FOREIGN_LOSS * lost)
            if any(case.foreign for case in matched)
            else today.model.matched,
        ),
        fit.fit_curve(select("lexical"), fit.LEXICAL, lost) if select("lexical") else today.lexical,
        fit.fit_precision(compared or select("lexical")),
    )


def render(cases: Sequence[Case], today: Curves, lost: float) -> Iterator[str]:
    """Yield the fitted curves, and the tables before and after."""
    fitted = fit_curves(cases, today, lost)
    yield from map(str, (fitted.model, fitted.lexical, fitted.precision))

    def score_left_out(rest: Sequence[Case]) -> Callable[[Sequence[Case]], list[float]]:
        curves = fit_curves(rest, today, lost)
        return lambda some: [curves.score(case) for case in some]

    yield "now"
    yield from render_table(cases, [today.score(case) for case in cases])
    yield "fitted on all sets"
    yield from render_table(cases, [fitted.score(case) for case in cases])
    yield "each set with a fit on the others"
    yield from render_table(cases, fit.predict_left_out(cases, score_left_out))


def render_table(cases: Sequence[Case], scores: Sequence[float]) -> Iterator[str]:
    """Yield one line for each set, file of questions and mode."""
    names = ("hit@1", "lost", "related", "unrelated", "ece own", "ece all")
    yield f"{'questions':32} {'mode':8} {'n':>5}" + "".join(f"{name:>10}" for name in names)
    rows: dict[tuple[str, str, str], list[tuple[Case, float]]] = {}
    for case, score in zip(cases, scores, strict=True):
        rows.setdefault((case.dataset, case.questions, case.mode), []).append((case, score))
    for (dataset, questions, mode), row in rows.items():
        own = [(case, score) for case, score in row if case.kind == "own"]
        values = [
            _share([case.rank == 1 for case, _ in own]),
            _share([score < FAIR for case, score in own if fit.is_found(case)]),
            *(
                _share([score >= FAIR for case, score in row if case.kind == kind])
                for kind in ("related", "unrelated")
            ),
            compute_calibration_error(own),
            compute_calibration_error(row),
        ]
        cells = "".join("         -" if one is None else f"{one:10.3f}" for one in values)
        yield f"{dataset + '/' + questions:32} {mode:8} {len(own):5}{cells}"


def compute_calibration_error(row: Sequence[tuple[Case, float]]) -> float | None:
    """Return the mean distance of score and share of right first hits over bins of scores."""
    gaps = [0.0] * _BINS
    for case, score in row:
        gaps[min(_BINS - 1, int(score * _BINS))] += score - (case.rank == 1)
    return sum(map(abs, gaps)) / len(row) if row else None


def _share(decisions: Sequence[bool]) -> float | None:
    return sum(decisions) / len(decisions) if decisions else None


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.calibrate", description="Fit the confidence of searches."
    )
    add = parser.add_argument
    add("sets", type=Path, help="a folder with evaluation sets")
    add("--bases", type=Path, required=True, help="a folder for the knowledge bases, kept")
    add("--cases", type=Path, required=True, help="the file of the collected cases")
    add("--model", default="all-minilm-l6-v2", help="the embedding model")
    add("--only", nargs="*", default=[], help="the names of some sets")
    add("--whole", nargs="*", default=[], help="sets that are not asked with half of the documents")
    add("--modes", nargs="*", choices=MODES, default=MODES, help="the channels searched")
    add("--every", type=int, default=1, help="ask every Nth question only")
    add("--lost", type=float, default=0.02, help="the share of found answers that may be weak")
    return parser
