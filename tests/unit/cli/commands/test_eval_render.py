from typing import Any

from kebab.cli.commands.eval import render_evaluation
from kebab.cli.render.canvas import Canvas
from kebab.wire.evals import EvalFigure, EvalGolden, EvalMode, EvalReport
from tests.fakes import replies

FIGURES: dict[Any, float | None] = {
    "hit@1": 0.5,
    "mrr@10": 0.75,
    "calibration_error": None,
    "median_ms": 2.04,
}


def mode(name, degraded=(), **values):
    given: dict[Any, float | None] = {
        **dict.fromkeys(("hit@5", "hit@10", "ndcg@10", "empty_rate")),
        **FIGURES,
        **values,
    }
    others = ("refusal_recall", "false_refusal_rate")
    figures = [
        EvalFigure(
            metric=metric, unit="ms" if metric.endswith("_ms") else "share", value=value, count=2
        )
        for metric, value in {**dict.fromkeys(others), **given}.items()
    ]
    return EvalMode(mode=name, figures=figures, degraded=list(degraded), outcomes=[])


def drawn(*modes, missing=(), missing_count=0, **changes):
    golden = EvalGolden(
        path="queries.jsonl",
        answerable=2,
        unanswerable=1,
        missing=list(missing),
        missing_count=missing_count,
    )
    reply = EvalReport(
        golden=golden,
        kebab_version="0.1.0",
        models=replies.introspection().models,
        modes=list(modes),
        **{"skipped": [], **changes},
    )
    return list(render_evaluation(reply, Canvas()))


def test_metrics_are_rows_and_modes_are_columns():
    lines = drawn(mode("hybrid"), mode("lexical", **{"mrr@10": None}))

    assert lines[3].split() == ["hybrid", "lexical"]
    rows = [line.split() for line in lines]
    assert ["hit@1", "0.500", "0.500"] in rows
    assert ["mrr@10", "0.750", "-"] in rows
    assert ["median_ms", "2.0", "2.0"] in rows
    assert not [line for line in lines if "calibration" in line]
