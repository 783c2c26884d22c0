"""Draws the figures of a benchmark as a table, and the use of each budget as bars."""

from collections.abc import Iterator

from kebab.bench.results import TIMES
from kebab.cli.render.canvas import Canvas, format_number
from kebab.cli.render.width import clean
from kebab.wire.bench import BenchFigure, BenchReport

_HEAD = ("", "median", "min … max", "ratio", "budget", "")
_LEFT = (0, 3)
_BAR = 30
_FULL = 2.0


def render_benchmark(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    """Yield the machine, every figure, the budgets as bars, and what was not measured."""
    yield from _format_title(reply, canvas)
    yield ""
    yield from _draw_table(reply.figures, canvas)
    judged = [one for one in reply.figures if one.share is not None]
    if judged:
        yield ""
        yield canvas.strong("how much of each budget is used")
        width = max(len(_format_name(one)) for one in judged)
        yield from (_draw_bar(one, width, canvas) for one in judged)
    for gap in reply.gaps:
        paint, word = (canvas.error, "failed:") if gap.failed else (canvas.warning, "skipped:")
        yield f"{paint(word)} {gap.name}: {clean(gap.reason)}"


def _format_title(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    size = f"{reply.chunks} passages, seed {reply.seed}"
    if reply.machine is not None:
        at = reply.machine
        yield canvas.strong(f"kebab v{at.kebab_version}")
        size += f"; {at.system}, {at.cores} cores, Python {at.python}"
    yield f"{size}; {reply.duration_ms / 1000:.0f} s"


def _draw_table(figures: list[BenchFigure], canvas: Canvas) -> Iterator[str]:
    rows = [_HEAD, *(_format_row(one) for one in figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if place in _LEFT else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        yield canvas.dim(line) if number == 0 else _paint_mark(line, figures[number - 1], canvas)


def _format_row(one: BenchFigure) -> tuple[str, ...]:
    spread = f"{format_number(one.minimum)} … {format_number(one.maximum)}" if one.runs > 1 else ""
    ratio = "" if one.ratio is None else f"{format_number(one.ratio)} {TIMES} {one.yardstick}"
    mark = {True: "✓", False: "✗", None: ""}[one.within]
    return (
        _format_name(one),
        f"{format_number(one.median)} {one.unit}",
        spread,
        ratio,
        one.budget or "",
        mark,
    )


def format_size(chunks: int) -> str:
    """Return a size of the corpus in short form: `305`, `1.33k`, `1m`."""
    for unit, worth in (("m", 1_000_000), ("k", 1_000)):
        if chunks >= worth:
            return f"{chunks / worth:.3g}{unit}"
    return str(chunks)


def _format_name(one: BenchFigure) -> str:
    """Return the name of a figure, with the size of the corpus when there are several sizes."""
    return one.name if one.chunks is None else f"{one.name} @{format_size(one.chunks)}"


def _paint_mark(line: str, one: BenchFigure, canvas: Canvas) -> str:
    if one.within is None:
        return line
    return line[:-1] + (canvas.success if one.within else canvas.error)(line[-1])


def _draw_bar(one: BenchFigure, width: int, canvas: Canvas) -> str:
    """Return a bar with a mark where the budget ends; twice the budget fills it."""
    assert one.share is not None
    used = round(min(one.share, _FULL) / _FULL * _BAR)
    edge = _BAR // 2
    cells = ["█" if place < used else "·" for place in range(_BAR)]
    paint = canvas.success if one.within else canvas.error
    bar = f"{paint(''.join(cells[:edge]))}│{paint(''.join(cells[edge:]))}"
    return f"  {_format_name(one):<{width}}  {bar} {one.share:>5.0%}"
