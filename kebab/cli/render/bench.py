"""Figures of a benchmark as a table, and how much of each budget they use as bars."""

from collections.abc import Iterator

from kebab.bench.budget import TIMES
from kebab.bench.sizes import short_size
from kebab.cli.render import growth, imports
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.number import short
from kebab.wire.bench import BenchFigure, BenchReport

_HEAD = ("", "median", "min … max", "ratio", "budget", "")
_LEFT = (0, 3)
_BAR = 30
_FULL = 2.0


def draw(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    """Yield where it was measured, every figure, the budgets as bars, and what is missing."""
    yield from _title(reply, canvas)
    yield ""
    yield from _table(reply.figures, canvas)
    judged = [one for one in reply.figures if one.share is not None]
    if judged:
        yield ""
        yield canvas.strong("how much of each budget is used")
        width = max(len(_name(one)) for one in judged)
        yield from (_bar(one, width, canvas) for one in judged)
    yield from growth.draw(reply.growth, canvas)
    yield from imports.draw(reply.imports, canvas)
    for gap in reply.gaps:
        paint, word = (canvas.bad, "failed:") if gap.failed else (canvas.odd, "skipped:")
        yield f"{paint(word)} {gap.name}: {clean(gap.reason)}"


def _title(reply: BenchReport, canvas: Canvas) -> Iterator[str]:
    size = f"{reply.chunks} passages, seed {reply.seed}"
    if reply.machine is not None:
        at = reply.machine
        yield canvas.strong(f"kebab v{at.kebab_version}")
        size += f"; {at.system}, {at.cores} cores, Python {at.python}"
    yield f"{size}; {reply.duration_ms / 1000:.0f} s"


def _table(figures: list[BenchFigure], canvas: Canvas) -> Iterator[str]:
    rows = [_HEAD, *(_row(one) for one in figures)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    for number, row in enumerate(rows):
        cells = [
            text.ljust(width) if place in _LEFT else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join(cells).rstrip()
        yield canvas.faint(line) if number == 0 else _marked(line, figures[number - 1], canvas)


def _row(one: BenchFigure) -> tuple[str, ...]:
    spread = f"{short(one.minimum)} … {short(one.maximum)}" if one.runs > 1 else ""
    ratio = "" if one.ratio is None else f"{short(one.ratio)} {TIMES} {one.yardstick}"
    mark = {True: "✓", False: "✗", None: ""}[one.within]
    return _name(one), f"{short(one.median)} {one.unit}", spread, ratio, one.budget or "", mark


def _name(one: BenchFigure) -> str:
    """Return the name of a figure, with the size of the corpus where there are several."""
    return one.name if one.chunks is None else f"{one.name} @{short_size(one.chunks)}"


def _marked(line: str, one: BenchFigure, canvas: Canvas) -> str:
    if one.within is None:
        return line
    return line[:-1] + (canvas.good if one.within else canvas.bad)(line[-1])


def _bar(one: BenchFigure, width: int, canvas: Canvas) -> str:
    """Return a bar with a mark where the budget ends; twice the budget fills it."""
    assert one.share is not None
    used = round(min(one.share, _FULL) / _FULL * _BAR)
    edge = _BAR // 2
    cells = ["█" if place < used else "·" for place in range(_BAR)]
    paint = canvas.good if one.within else canvas.bad
    bar = f"{paint(''.join(cells[:edge]))}│{paint(''.join(cells[edge:]))}"
    return f"  {_name(one):<{width}}  {bar} {one.share:>5.0%}"
