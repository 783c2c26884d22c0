"""Renders the reports of `kebab eval`."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, Column, clean, pluralize, render_columns
from kebab.wire import evals

_LABELS: dict[evals.MetricName, str] = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "hit@10": "hit@10",
    "mrr@10": "MRR@10",
    "ndcg@10": "nDCG@10",
    "empty_rate": "without a hit",
    "refusal_precision": "refusal precision",
    "refusal_recall": "refusal recall",
    "false_refusal_rate": "false refusals",
    "calibration_error": "calibration error",
    "median_ms": "median ms",
    "p95_ms": "p95 ms",
}


def render_evaluation(reply: evals.EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield the questions, a table of every metric by mode, and notes."""
    golden, model = reply.golden, reply.models.embedding_version or "no embedding model"
    yield canvas.strong(f"kebab v{reply.kebab_version}") + f", {model}"
    source = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{source}{nothing}; {reply.settings.limit} hits each, revision {reply.corpus_revision}"
    figures = [{one.metric: one for one in mode.figures} for mode in reply.modes]
    rows = [
        (label, *(_format_value(by[metric]) for by in figures))
        for metric, label in _LABELS.items()
        if any(by[metric].value is not None for by in figures)
    ]
    if rows:
        yield ""
        columns = [Column(), *(Column(mode.mode, right=True) for mode in reply.modes)]
        yield from render_columns(columns, rows, canvas)
    yield from _render_notes(reply, canvas)


def _format_value(figure: evals.EvalFigure) -> str:
    if figure.value is None:
        return "-"
    return f"{figure.value:.1f}" if figure.unit == "ms" else f"{figure.value:.3f}"


def _render_notes(reply: evals.EvalReport, canvas: Canvas) -> Iterator[str]:
    golden = reply.golden
    if golden.missing:
        more = golden.missing_count - len(golden.missing)
        named = ", ".join(map(clean, golden.missing)) + (f" and {more} more" if more else "")
        yield from canvas.note(f"not indexed, and so never found: {named}")
    if reply.moved:
        yield from canvas.note(
            "the index changed during the run; the questions met different revisions"
        )
    for skipped in reply.skipped:
        yield from canvas.note(f"{skipped.mode} was not measured: {clean(skipped.reason)}")
    for mode in reply.modes:
        for channel in mode.degraded:
            count = pluralize(channel.questions, "question")
            failure = f"{mode.mode}: {channel.channel} did not answer {count}"
            yield from canvas.note(f"{failure}: {clean(channel.reason)}")
