"""Renders evaluation reports and comparisons, and the figures of a benchmark."""

from collections.abc import Iterable, Iterator, Sequence

from kebab.cli.render.canvas import (
    Canvas,
    clean,
    pluralize,
    render_fields,
)
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
_LABEL, _COLUMN, _SLIM, _RELIABILITY_BAR = 20, 17, 10, 10
_SHADES = "▁▂▃▄▅▆▇█"
_POINTS = 16
_NONE = "-"


def render_evaluation(reply: evals.EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield the questions, every metric by mode, two plots, and notes."""
    golden, versions = reply.golden, reply.versions
    model = versions.embedding or "no embedding model"
    yield canvas.strong(f"kebab v{versions.kebab}") + f", {model}"
    source = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{source}{nothing}; {reply.settings.limit} hits each, revision {reply.corpus_revision}"
    yield canvas.dim(f"± is half of a {reply.settings.level:.0%} bootstrap interval")
    if reply.modes:
        # A narrow canvas omits intervals.
        widest = _LABEL + len(reply.modes) * _COLUMN
        width = _COLUMN if canvas.width is None or canvas.width >= widest else _SLIM
        names = [canvas.strong(f"{mode.mode:<{width}}") for mode in reply.modes]
        yield from _render_metrics(reply.modes, names, width, canvas)
        yield from _render_curves(reply.modes, names, width)
        yield from _render_reliability(reply.modes, names, width, canvas)
    yield from _render_notes(reply, canvas)


def _format_row(label: str, cells: Iterable[str]) -> str:
    return f"{label:<{_LABEL}}{''.join(cells)}".rstrip()


def _render_metrics(
    modes: Sequence[evals.EvalMode], names: Sequence[str], width: int, canvas: Canvas
) -> Iterator[str]:
    """Yield a table of all metrics; the best of several values is bold."""
    yield ""
    yield _format_row("", names)
    figures = [{figure.metric: figure for figure in mode.figures} for mode in modes]
    for group, labels in _GROUPS.items():
        shown = False
        for metric, label in labels.items():
            row = [by_metric.get(metric) for by_metric in figures]
            values = [figure.value for figure in row if figure and figure.value is not None]
            if not values:
                continue
            if not shown:
                yield canvas.dim(group)
            shown = True
            leads = group == "found" and metric != "empty_rate" and len(set(values)) > 1
            top = max(values) if leads else None
            yield _format_row(
                f"  {label}", (_format_figure(one, top, width, canvas) for one in row)
            )


def _format_figure(
    figure: evals.EvalFigure | None, top: float | None, width: int, canvas: Canvas
) -> str:
    """Return a value with half of its interval; `top` is the value that is bold."""
    if figure is None or figure.value is None or figure.low is None or figure.high is None:
        return _NONE.ljust(width)
    digits = 1 if figure.unit == "ms" else 3
    number = f"{figure.value:.{digits}f}"
    half = (figure.high - figure.low) / 2
    spread = f" ±{half:.{digits}f}" if width == _COLUMN else ""
    blank = " " * (width - len(number + spread))
    return (canvas.strong(number) if figure.value == top else number) + canvas.dim(spread) + blank


def _render_curves(
    modes: Sequence[evals.EvalMode], names: Sequence[str], width: int
) -> Iterator[str]:
    """Yield hit@k for growing k, as small columns from 0 to 1."""
    yield ""
    depth = len(modes[0].hit_curve)
    if not depth:
        return
    yield _format_row(f"hit@1 … hit@{depth}", names)
    yield _format_row("", (_draw_curve(mode.hit_curve, width) for mode in modes))


def _draw_curve(curve: Sequence[float], width: int) -> str:
    """Return a column for each value; of a long curve for some, with the first and the last."""
    points, top = min(_POINTS, width - 1), len(_SHADES) - 1
    step = max(1.0, (len(curve) - 1) / (points - 1))
    shares = [curve[round(point * step)] for point in range(min(points, len(curve)))]
    return "".join(_SHADES[min(top, int(one * len(_SHADES)))] for one in shares).ljust(width)


def _render_reliability(
    modes: Sequence[evals.EvalMode], names: Sequence[str], width: int, canvas: Canvas
) -> Iterator[str]:
    """Yield a bar for each bin of scores: how often the first hit is right."""
    yield ""
    yield _format_row("score of first hit", names)
    for row in reversed([*zip(*(mode.reliability for mode in modes), strict=True)]):
        if any(cell.count for cell in row):
            label = f"  {row[0].start:.1f} … {row[0].end:.1f}"
            yield _format_row(label, (_format_reliability_bar(one, width, canvas) for one in row))
    yield canvas.dim("█ right   ░ the score promises as much more   ▓ it promises less")


def _format_reliability_bar(cell: evals.EvalBin, width: int, canvas: Canvas) -> str:
    if cell.right is None or cell.mean_score is None:
        return " " * width
    size = min(_RELIABILITY_BAR, width - 1)
    right, score = round(cell.right * size), round(cell.mean_score * size)
    bar = canvas.success("█" * min(right, score))
    bar += canvas.warning("▓" * (right - score)) + canvas.error("░" * (score - right))
    count = f" {cell.count}" if width == _COLUMN else ""
    return bar + " " * (size - max(right, score)) + count.ljust(width - size)


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


_SHOWN = 5
_SIGNIFICANT = 0.05


def render_comparison(reply: evals.EvalComparison, canvas: Canvas) -> Iterator[str]:
    """Yield both reports, then each comparison with the questions that changed most."""
    yield from render_fields((("a", _format_side(reply.a)), ("b", _format_side(reply.b))), canvas)
    method = f"{reply.level:.0%} bootstrap intervals; p by {reply.flips} random signs, two-sided"
    yield canvas.dim(f"{pluralize(reply.questions, 'question')}; {method}, seed {reply.seed}")
    for pair in reply.pairs:
        yield ""
        modes = pair.mode_a if pair.mode_a == pair.mode_b else f"{pair.mode_a} → {pair.mode_b}"
        yield canvas.strong(f"{modes}  {pair.metric}")
        difference = f"{pair.difference:+.3f}"
        paint = canvas.success if pair.difference > 0 else canvas.error
        if pair.p_value >= _SIGNIFICANT:
            paint = canvas.dim
        yield (
            f"  {pair.a:.3f} → {pair.b:.3f}   {paint(difference)}"
            f"  ({pair.low:+.3f} … {pair.high:+.3f})   p = {pair.p_value:.4f}"
        )
        yield f"  better {pair.wins}, worse {pair.losses}, the same {pair.ties}"
        yield from _render_changes("better", pair.better, canvas)
        yield from _render_changes("worse", pair.worse, canvas)


def _format_side(side: evals.EvalSide) -> str:
    versions = side.versions
    model = versions.embedding or "no embedding model"
    build = f"kebab v{versions.kebab}, {versions.chunker}, {model}"
    return f"{clean(side.path)}  {build}, revision {side.corpus_revision}"


def _render_changes(
    label: str, changes: Sequence[evals.EvalChange], canvas: Canvas
) -> Iterator[str]:
    if not changes:
        return
    more = f", {_SHOWN} of {len(changes)}" if len(changes) > _SHOWN else ""
    yield canvas.dim(f"  {label}{more}")
    for change in changes[:_SHOWN]:
        ranks = f"{change.rank_a or _NONE} → {change.rank_b or _NONE}"
        yield canvas.fit(f"    {change.difference:+.2f}  {ranks:<9}  {clean(change.query)}", 0)


_KINDS = {
    "sentence": "most words of a sentence, in order",
    "rarest": "the rarest words of a sentence",
    "heading": "a heading and a rare word from below it",
    "nonsense": "made-up words, half of them next to a real one",
}


def render_draft(reply: evals.EvalDraft, canvas: Canvas) -> Iterator[str]:
    """Yield the path, the kinds of questions, and their limits."""
    if not reply.written:
        yield "the notes gave no question: too little running text"
        return
    yield canvas.location(clean(reply.path))
    source = pluralize(reply.documents, "document")
    yield f"{pluralize(reply.answerable, 'question')} from {source}, seed {reply.seed}"
    kinds = ((str(count), _KINDS.get(kind, kind)) for kind, count in reply.by_kind.items())
    yield from render_fields(kinds, canvas, "  ")
    languages = ", ".join(f"{name} {count}" for name, count in reply.by_language.items())
    yield f"languages: {languages}"
    if reply.answerable < reply.wanted:
        yield from canvas.note(f"{reply.wanted} were asked for; the notes gave no more")
    yield from canvas.note(
        "the questions use words of the notes, which flatters search by words; "
        "questions of your own tell more"
    )
    yield from canvas.hint(f"kebab eval run {clean(reply.path)}")
