"""Renders the figures of a benchmark as a table, and the use of each budget as bars."""

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
    yield from _render_table(reply.figures, canvas)
    budgeted = [figure for figure in reply.figures if figure.share is not None]
    if budgeted:
        yield ""
        yield canvas.strong("how much of each budget is used")
        width = max(len(_format_name(figure)) for figure in budgeted)
        yield from (_format_bar(figure, width, canvas) for figure in budgeted)
    for gap in reply.gaps:
        paint, word = (canvas.error, "failed:") if gap.failed else (canvas.warning, "skipped:")
        yield f"{paint(word)} {gap.name}: {clean(gap.reason)}"


def _format_title(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    size = f"{reply.chunks} passages, seed {reply.seed}"
    if reply.machine is not None:
        machine = reply.machine
        yield canvas.strong(f"kebab v{machine.kebab_version}")
        size += f"; {machine.system}, {machine.cores} cores, Python {machine.python}"
    yield f"{size}; {reply.duration_ms / 1000:.0f} s"


def _render_table(figures: list[BenchFigure], canvas: Canvas) -> Iterator[str]:
    rows = [_HEAD, *map(_format_row, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if column in _LEFT else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        yield canvas.dim(line) if number == 0 else _paint_mark(line, figures[number - 1], canvas)


def _format_row(figure: BenchFigure) -> tuple[str, ...]:
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


def _format_bar(figure: BenchFigure, width: int, canvas: Canvas) -> str:
    """Return a bar with a mark at the budget; twice the budget fills it."""
    assert figure.share is not None
    used = round(min(figure.share, _FULL) / _FULL * _BAR)
    edge = _BAR // 2
    cells = "█" * used + "·" * (_BAR - used)
    paint = canvas.success if figure.within else canvas.error
    bar = f"{paint(cells[:edge])}│{paint(cells[edge:])}"
    return f"  {_format_name(figure):<{width}}  {bar} {figure.share:>5.0%}"
