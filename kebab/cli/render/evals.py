"""Renders evaluation reports and comparisons, and the figures of a benchmark."""

from collections.abc import Iterator, Sequence

from kebab.bench.results import TIMES
from kebab.cli.render.canvas import Canvas, clean, format_number, pluralize, render_fields
from kebab.wire.evals import (
    BenchFigure,
    BenchReport,
    EvalBin,
    EvalChange,
    EvalComparison,
    EvalDraft,
    EvalFigure,
    EvalMode,
    EvalReport,
    EvalSide,
    MetricName,
)

_GROUPS: dict[str, dict[MetricName, str]] = {
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


def render_evaluation(reply: EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield the questions, every metric by mode, two plots, and notes."""
    golden, versions = reply.golden, reply.versions
    model = versions.embedding or "no embedding model"
    yield canvas.strong(f"kebab v{versions.kebab}") + f", {model}"
    source = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{source}{nothing}; {reply.settings.limit} hits each, revision {reply.corpus_revision}"
    yield canvas.dim(f"± is half of a {reply.settings.level:.0%} bootstrap interval")
    if reply.modes:
        yield ""
        yield _format_head("", reply.modes, canvas)
        figures = [{figure.metric: figure for figure in mode.figures} for mode in reply.modes]
        for group, names in _GROUPS.items():
            rows = {
                label: [by_metric.get(metric) for by_metric in figures]
                for metric, label in names.items()
            }
            measured = {
                label: row
                for label, row in rows.items()
                if any(cell and cell.value is not None for cell in row)
            }
            if measured:
                yield canvas.dim(group)
            for label, row in measured.items():
                yield _format_metric_row(f"  {label}", row, canvas, leads=group == "found")
        yield ""
        yield from _render_curves(reply.modes, canvas)
        yield ""
        yield from _render_reliability(reply.modes, canvas)
    yield from _render_notes(reply, canvas)


def _format_head(label: str, modes: Sequence[EvalMode], canvas: Canvas) -> str:
    names = [canvas.strong(f"{mode.mode:<{_choose_width(canvas, len(modes))}}") for mode in modes]
    return f"{label:<{_LABEL}}{''.join(names)}".rstrip()


def _choose_width(canvas: Canvas, columns: int) -> int:
    """Return the width of a column; a narrow canvas omits intervals."""
    wide = canvas.width is None or canvas.width >= _LABEL + columns * _COLUMN
    return _COLUMN if wide else _SLIM


def _format_metric_row(
    label: str, row: Sequence[EvalFigure | None], canvas: Canvas, *, leads: bool
) -> str:
    """Return a line of the table; the best of several values is bold."""
    width = _choose_width(canvas, len(row))
    values = [figure.value for figure in row if figure and figure.value is not None]
    top = max(values, default=None) if leads and len(set(values)) > 1 else None
    cells = []
    for figure in row:
        number, spread = _format_figure(figure)
        best = figure is not None and figure.value == top and figure.metric != "empty_rate"
        rest = spread if width == _COLUMN else ""
        blank = " " * (width - len(number) - len(rest))
        cells.append((canvas.strong(number) if best else number) + canvas.dim(rest) + blank)
    return f"{label:<{_LABEL}}{''.join(cells)}".rstrip()


def _format_figure(figure: EvalFigure | None) -> tuple[str, str]:
    if figure is None or figure.value is None or figure.low is None or figure.high is None:
        return _NONE, ""
    half = (figure.high - figure.low) / 2
    if figure.unit == "ms":
        return f"{figure.value:.1f}", f" ±{half:.1f}"
    return f"{figure.value:.3f}", f" ±{half:.3f}"


def _render_curves(modes: Sequence[EvalMode], canvas: Canvas) -> Iterator[str]:
    """Yield hit@k for growing k, as small columns from 0 to 1."""
    depth = len(modes[0].hit_curve)
    if not depth:
        return
    yield _format_head(f"hit@1 … hit@{depth}", modes, canvas)
    width = _choose_width(canvas, len(modes))
    curves = [_sample_curve(mode.hit_curve, min(_POINTS, width - 1)) for mode in modes]
    top = len(_SHADES) - 1
    lines = [
        "".join(_SHADES[min(top, int(share * len(_SHADES)))] for share in curve).ljust(width)
        for curve in curves
    ]
    yield f"{'':<{_LABEL}}{''.join(lines)}".rstrip()


def _sample_curve(curve: Sequence[float], points: int) -> list[float]:
    """Return at most `points` values of a curve, including the first and the last."""
    if len(curve) <= points:
        return [*curve]
    step = (len(curve) - 1) / (points - 1)
    return [curve[round(point * step)] for point in range(points)]


def _render_reliability(modes: Sequence[EvalMode], canvas: Canvas) -> Iterator[str]:
    """Yield a bar for each bin of scores: how often the first hit is right."""
    yield _format_head("score of first hit", modes, canvas)
    width = _choose_width(canvas, len(modes))
    for row in reversed([*zip(*(mode.reliability for mode in modes), strict=True)]):
        if any(cell.count for cell in row):
            label = f"  {row[0].start:.1f} … {row[0].end:.1f}"
            bars = "".join(_format_reliability_bar(cell, width, canvas) for cell in row)
            yield f"{label:<{_LABEL}}{bars}".rstrip()
    yield canvas.dim("█ right   ░ the score promises as much more   ▓ it promises less")


def _format_reliability_bar(cell: EvalBin, width: int, canvas: Canvas) -> str:
    if cell.right is None or cell.mean_score is None:
        return " " * width
    size = min(_RELIABILITY_BAR, width - 1)
    right, score = round(cell.right * size), round(cell.mean_score * size)
    bar = canvas.success("█" * min(right, score))
    bar += canvas.warning("▓" * (right - score)) + canvas.error("░" * (score - right))
    count = f" {cell.count}" if width == _COLUMN else ""
    return bar + " " * (size - max(right, score)) + count.ljust(width - size)


def _render_notes(reply: EvalReport, canvas: Canvas) -> Iterator[str]:
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


def render_comparison(reply: EvalComparison, canvas: Canvas) -> Iterator[str]:
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


def _format_side(side: EvalSide) -> str:
    versions = side.versions
    model = versions.embedding or "no embedding model"
    build = f"kebab v{versions.kebab}, {versions.chunker}, {model}"
    return f"{clean(side.path)}  {build}, revision {side.corpus_revision}"


def _render_changes(label: str, changes: Sequence[EvalChange], canvas: Canvas) -> Iterator[str]:
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


def render_draft(reply: EvalDraft, canvas: Canvas) -> Iterator[str]:
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


_BENCH_HEAD = ("", "median", "min … max", "ratio", "budget", "")
_LEFT_COLUMNS = (0, 3)
_BUDGET_BAR = 30
_FULL_SHARE = 2.0


def render_benchmark(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    """Yield the machine, every figure, the budgets as bars, and what was not measured."""
    size = f"{reply.chunks} passages, seed {reply.seed}"
    if reply.machine is not None:
        machine = reply.machine
        yield canvas.strong(f"kebab v{machine.kebab_version}")
        size += f"; {machine.system}, {machine.cores} cores, Python {machine.python}"
    yield f"{size}; {reply.duration_ms / 1000:.0f} s"
    yield ""
    yield from _render_figures(reply.figures, canvas)
    budgeted = [figure for figure in reply.figures if figure.share is not None]
    if budgeted:
        yield ""
        yield canvas.strong("how much of each budget is used")
        width = max(len(_format_name(figure)) for figure in budgeted)
        yield from (_format_budget_bar(figure, width, canvas) for figure in budgeted)
    for gap in reply.gaps:
        paint, word = (canvas.error, "failed:") if gap.failed else (canvas.warning, "skipped:")
        yield f"{paint(word)} {gap.name}: {clean(gap.reason)}"


def _render_figures(figures: list[BenchFigure], canvas: Canvas) -> Iterator[str]:
    rows = [_BENCH_HEAD, *map(_format_figure_cells, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if column in _LEFT_COLUMNS else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        yield canvas.dim(line) if number == 0 else _paint_mark(line, figures[number - 1], canvas)


def _format_figure_cells(figure: BenchFigure) -> tuple[str, ...]:
    low, high = format_number(figure.minimum), format_number(figure.maximum)
    spread = f"{low} … {high}" if figure.runs > 1 else ""
    ratio = ""
    if figure.ratio is not None:
        ratio = f"{format_number(figure.ratio)} {TIMES} {figure.yardstick}"
    mark = {True: "✓", False: "✗", None: ""}[figure.within]
    return (
        _format_name(figure),
        f"{format_number(figure.median)} {figure.unit}",
        spread,
        ratio,
        figure.budget or "",
        mark,
    )


def format_size(chunks: int) -> str:
    """Return a corpus size in short form: `305`, `1.33k`, `1m`."""
    for unit, worth in (("m", 1_000_000), ("k", 1_000)):
        if chunks >= worth:
            return f"{chunks / worth:.3g}{unit}"
    return str(chunks)


def _format_name(figure: BenchFigure) -> str:
    """Return the name of a figure, with the corpus size when there are several sizes."""
    return figure.name if figure.chunks is None else f"{figure.name} @{format_size(figure.chunks)}"


def _paint_mark(line: str, figure: BenchFigure, canvas: Canvas) -> str:
    if figure.within is None:
        return line
    return line[:-1] + (canvas.success if figure.within else canvas.error)(line[-1])


def _format_budget_bar(figure: BenchFigure, width: int, canvas: Canvas) -> str:
    """Return a bar with a mark at the budget; twice the budget fills it."""
    assert figure.share is not None
    used = round(min(figure.share, _FULL_SHARE) / _FULL_SHARE * _BUDGET_BAR)
    edge = _BUDGET_BAR // 2
    cells = "█" * used + "·" * (_BUDGET_BAR - used)
    paint = canvas.success if figure.within else canvas.error
    bar = f"{paint(cells[:edge])}│{paint(cells[edge:])}"
    return f"  {_format_name(figure):<{width}}  {bar} {figure.share:>5.0%}"
