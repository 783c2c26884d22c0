"""Renders evaluation reports and comparisons."""

from collections.abc import Iterator, Sequence

from kebab.cli.render.canvas import Canvas, pluralize, render_fields
from kebab.cli.render.width import clean, truncate
from kebab.wire.evals import (
    EvalBin,
    EvalChange,
    EvalComparison,
    EvalFigure,
    EvalMode,
    EvalPair,
    EvalReport,
    EvalSide,
    MetricName,
)
from kebab.wire.golden import EvalDraft

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
_LABEL, _COLUMN, _SLIM, _BAR = 20, 17, 10, 10
_SHADES = "▁▂▃▄▅▆▇█"
_POINTS = 16
_NONE = "-"


def render_evaluation(reply: EvalReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was asked, every metric by mode, two plots, and what a reader must know."""
    yield from _title(reply, canvas)
    if reply.modes:
        yield ""
        yield from _table(reply.modes, canvas)
        yield ""
        yield from _curves(reply.modes, canvas)
        yield ""
        yield from _reliability(reply.modes, canvas)
    yield from _notes(reply, canvas)


def _title(reply: EvalReport, canvas: Canvas) -> Iterator[str]:
    golden, made = reply.golden, reply.versions
    yield canvas.strong(f"kebab v{made.kebab}") + f", {made.embedding or 'no embedding model'}"
    asked = f"{pluralize(golden.answerable, 'question')} of {clean(golden.path)}"
    nothing = f", {golden.unanswerable} that nothing answers" if golden.unanswerable else ""
    yield f"{asked}{nothing}; {reply.settings.limit} hits each, revision {reply.corpus_revision}"
    yield canvas.dim(f"± is half of a {reply.settings.level:.0%} bootstrap interval")


def _table(modes: Sequence[EvalMode], canvas: Canvas) -> Iterator[str]:
    yield _head("", modes, canvas)
    known = [{one.metric: one for one in mode.figures} for mode in modes]
    for group, names in _GROUPS.items():
        rows = {label: [of.get(metric) for of in known] for metric, label in names.items()}
        told = {label: row for label, row in rows.items() if any(map(_known, row))}
        if told:
            yield canvas.dim(group)
        for label, row in told.items():
            yield _row(f"  {label}", row, canvas, leads=group == "found")


def _known(one: EvalFigure | None) -> bool:
    return one is not None and one.value is not None


def _head(label: str, modes: Sequence[EvalMode], canvas: Canvas) -> str:
    names = [canvas.strong(f"{mode.mode:<{_width(canvas, len(modes))}}") for mode in modes]
    return f"{label:<{_LABEL}}{''.join(names)}".rstrip()


def _width(canvas: Canvas, columns: int) -> int:
    """Return how wide a column is; on a narrow canvas intervals are left out."""
    wide = canvas.width is None or canvas.width >= _LABEL + columns * _COLUMN
    return _COLUMN if wide else _SLIM


def _row(label: str, row: Sequence[EvalFigure | None], canvas: Canvas, *, leads: bool) -> str:
    """Return a line of the table; the best of several is set off."""
    width = _width(canvas, len(row))
    values = [one.value for one in row if one and one.value is not None]
    top = max(values, default=None) if leads and len(set(values)) > 1 else None
    cells = []
    for one in row:
        number, spread = _told(one)
        best = one is not None and one.value == top and one.metric != "empty_rate"
        rest = spread if width == _COLUMN else ""
        blank = " " * (width - len(number) - len(rest))
        cells.append((canvas.strong(number) if best else number) + canvas.dim(rest) + blank)
    return f"{label:<{_LABEL}}{''.join(cells)}".rstrip()


def _told(one: EvalFigure | None) -> tuple[str, str]:
    if one is None or one.value is None or one.low is None or one.high is None:
        return _NONE, ""
    half = (one.high - one.low) / 2
    if one.unit == "ms":
        return f"{one.value:.1f}", f" ±{half:.1f}"
    return f"{one.value:.3f}", f" ±{half:.3f}"


def _curves(modes: Sequence[EvalMode], canvas: Canvas) -> Iterator[str]:
    """Yield hit@k for growing k, as small columns from 0 to 1."""
    depth = len(modes[0].hit_curve)
    if not depth:
        return
    yield _head(f"hit@1 … hit@{depth}", modes, canvas)
    width = _width(canvas, len(modes))
    curves = [_sampled(mode.hit_curve, min(_POINTS, width - 1)) for mode in modes]
    drawn = ["".join(_shade(share) for share in curve).ljust(width) for curve in curves]
    yield f"{'':<{_LABEL}}{''.join(drawn)}".rstrip()


def _sampled(curve: Sequence[float], points: int) -> list[float]:
    """Return at most so many values of a curve, the first and the last among them."""
    if len(curve) <= points:
        return [*curve]
    step = (len(curve) - 1) / (points - 1)
    return [curve[round(place * step)] for place in range(points)]


def _shade(share: float) -> str:
    return _SHADES[min(len(_SHADES) - 1, int(share * len(_SHADES)))]


def _reliability(modes: Sequence[EvalMode], canvas: Canvas) -> Iterator[str]:
    """Yield a bar for each bin of scores: how often the first hit is right."""
    yield _head("score of first hit", modes, canvas)
    width = _width(canvas, len(modes))
    for row in reversed([*zip(*(mode.reliability for mode in modes), strict=True)]):
        if any(one.count for one in row):
            label = f"  {row[0].start:.1f} … {row[0].end:.1f}"
            bars = "".join(_bar(one, width, canvas) for one in row)
            yield f"{label:<{_LABEL}}{bars}".rstrip()
    yield canvas.dim("█ right   ░ the score promises as much more   ▓ it promises less")


def _bar(one: EvalBin, width: int, canvas: Canvas) -> str:
    if one.right is None or one.mean_score is None:
        return " " * width
    size = min(_BAR, width - 1)
    right, said = round(one.right * size), round(one.mean_score * size)
    sound = canvas.success("█" * min(right, said))
    gap = (
        canvas.warning("▓" * (right - said)) if right > said else canvas.error("░" * (said - right))
    )
    count = f" {one.count}" if width == _COLUMN else ""
    return sound + gap + " " * (size - max(right, said)) + count.ljust(width - size)


def _notes(reply: EvalReport, canvas: Canvas) -> Iterator[str]:
    golden = reply.golden
    if golden.missing:
        more = golden.missing_count - len(golden.missing)
        named = ", ".join(map(clean, golden.missing)) + (f" and {more} more" if more else "")
        yield from canvas.note(f"not indexed, and so never found: {named}")
    if reply.moved:
        yield from canvas.note("the index changed meanwhile; not all questions met the same one")
    for one in reply.skipped:
        yield from canvas.note(f"{one.mode} was not measured: {clean(one.reason)}")
    for mode in reply.modes:
        for channel in mode.degraded:
            count = pluralize(channel.questions, "question")
            told = f"{mode.mode}: {channel.channel} did not answer {count}"
            yield from canvas.note(f"{told}: {clean(channel.reason)}")


_SHOWN = 5
_SURE = 0.05
_NO_DIFFERENCE = "-"


def render_comparison(reply: EvalComparison, canvas: Canvas) -> Iterator[str]:
    """Yield both reports, then each comparison with the questions that changed most."""
    yield from render_fields((("a", _side(reply.a)), ("b", _side(reply.b))), canvas)
    sure = f"{reply.level:.0%} bootstrap intervals; p by {reply.flips} random signs, two-sided"
    yield canvas.dim(f"{pluralize(reply.questions, 'question')}; {sure}, seed {reply.seed}")
    for pair in reply.pairs:
        yield ""
        yield from _pair(pair, canvas)


def _side(side: EvalSide) -> str:
    made = side.versions
    build = f"kebab v{made.kebab}, {made.chunker}, {made.embedding or 'no embedding model'}"
    return f"{clean(side.path)}  {build}, revision {side.corpus_revision}"


def _pair(pair: EvalPair, canvas: Canvas) -> Iterator[str]:
    modes = pair.mode_a if pair.mode_a == pair.mode_b else f"{pair.mode_a} → {pair.mode_b}"
    yield canvas.strong(f"{modes}  {pair.metric}")
    difference = f"{pair.difference:+.3f}"
    paint = (
        canvas.dim
        if pair.p_value >= _SURE
        else canvas.success
        if pair.difference > 0
        else canvas.error
    )
    yield (
        f"  {pair.a:.3f} → {pair.b:.3f}   {paint(difference)}"
        f"  ({pair.low:+.3f} … {pair.high:+.3f})   p = {pair.p_value:.4f}"
    )
    yield f"  better {pair.wins}, worse {pair.losses}, the same {pair.ties}"
    yield from _changes("better", pair.better, canvas)
    yield from _changes("worse", pair.worse, canvas)


def _changes(label: str, changes: Sequence[EvalChange], canvas: Canvas) -> Iterator[str]:
    if not changes:
        return
    more = f", {_SHOWN} of {len(changes)}" if len(changes) > _SHOWN else ""
    yield canvas.dim(f"  {label}{more}")
    for one in changes[:_SHOWN]:
        ranks = f"{one.rank_a or _NO_DIFFERENCE} → {one.rank_b or _NO_DIFFERENCE}"
        line = f"    {one.difference:+.2f}  {ranks:<9}  {clean(one.query)}"
        yield truncate(line, canvas.width) if canvas.width else line


_KINDS = {
    "sentence": "most words of a sentence, in order",
    "rarest": "the rarest words of a sentence",
    "heading": "a heading and a rare word from below it",
    "nonsense": "words that nobody wrote, half of them beside one that is there",
}


def render_draft(reply: EvalDraft, canvas: Canvas) -> Iterator[str]:
    """Yield where it lies, how its questions were made, and what they are good for."""
    if not reply.written:
        yield "the notes gave no question: too little running text"
        return
    yield canvas.location(clean(reply.path))
    source = pluralize(reply.documents, "document")
    yield f"{pluralize(reply.answerable, 'question')} from {source}, seed {reply.seed}"
    made = ((str(count), _KINDS.get(kind, kind)) for kind, count in reply.by_kind.items())
    yield from render_fields(made, canvas, "  ")
    languages = ", ".join(f"{name} {count}" for name, count in reply.by_language.items())
    yield f"languages: {languages}"
    if reply.answerable < reply.wanted:
        yield from canvas.note(f"{reply.wanted} were asked for; the notes gave no more")
    yield from canvas.note(
        "the questions use words of the notes, which flatters search by words; "
        "questions of your own tell more"
    )
    yield from canvas.hint(f"kebab eval run {clean(reply.path)}")
