"""Renders the reports of `kebab eval`."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, pluralize
from kebab.wire import evals

_GROUPS: dict[str, dict[evals.MetricName, str]] = {
    "found": {
        "hit@1": "hit@1",
        "hit@5": "hit@5",
        "hit@10": "hit@10",
        "mrr@10": "MRR@10",
        "ndcg@10": "nDCG@10",
        "empty_rate": "without a hit",
    },
    "refused": {
        "refusal_precision": "precision",
        "refusal_recall": "recall",
        "false_refusal_rate": "false refusals",
    },
    "scores": {"calibration_error": "calibration error"},
    "time": {"median_ms": "median ms", "p95_ms": "p95 ms"},
}
_LABEL, _COLUMN = 20, 10


def render_evaluation(reply: evals.EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield the questions, a table of every metric by mode, and notes."""
    golden, model = reply.golden, reply.models.embedding_version or "no embedding model"
    yield canvas.strong(f"kebab v{reply.kebab_version}") + f", {model}"
    source = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{source}{nothing}; {reply.settings.limit} hits each, revision {reply.corpus_revision}"
    if reply.modes:
        yield ""
        names = "".join(f"{mode.mode:<{_COLUMN}}" for mode in reply.modes).rstrip()
        yield " " * _LABEL + canvas.strong(names)
    figures = [{one.metric: one for one in mode.figures} for mode in reply.modes]
    for group, labels in _GROUPS.items():
        rows = [(label, [by[metric] for by in figures]) for metric, label in labels.items()]
        shown = [row for row in rows if any(one.value is not None for one in row[1])]
        if shown:
            yield canvas.dim(group)
        for label, row in shown:
            cells = "".join(f"{_format_value(one):<{_COLUMN}}" for one in row)
            yield f"{f'  {label}':<{_LABEL}}{cells}".rstrip()
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
