"""Draws growth and import profiles below the figures of a benchmark report."""

import math
from collections.abc import Iterator

from kebab.bench.sandbox import TIMES
from kebab.cli.render.canvas import Canvas, format_number
from kebab.cli.render.evals import format_size, render_benchmark
from kebab.wire.evals import BenchGrowth, BenchImports, BenchReport

_STEPS = "▁▂▃▄▅▆▇█"
_DECADES = 4
"""The lowest step stands for the smallest median, the highest for ten thousand times that."""
_SHOWN_MODULES = 4
_MARKS = {True: "✓", False: "✗", None: ""}


def draw_report(report: BenchReport, canvas: Canvas) -> Iterator[str]:
    """Yield the lines of a whole report."""
    yield from render_benchmark(report, canvas)
    yield from draw_growth(report.growth, canvas)
    yield from draw_imports(report.imports, canvas)


def draw_growth(growth: list[BenchGrowth], canvas: Canvas) -> Iterator[str]:
    """Yield a heading and one line for each figure, or nothing without growth."""
    if not growth:
        return
    sizes = growth[0].chunks
    yield ""
    yield canvas.strong(f"growth from {format_size(sizes[0])} to {format_size(sizes[-1])} passages")
    rows = [_format_head(sizes), *(_format_row(one) for one in growth)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    for number, row in enumerate(rows):
        cells = [
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=False))
        ]
        line = "  ".join(cells).rstrip()
        painted = canvas.dim(line) if number == 0 else _paint_mark(line, growth[number - 1], canvas)
        yield f"  {painted}"


def draw_imports(imports: list[BenchImports], canvas: Canvas) -> Iterator[str]:
    """Yield a heading and one line for each command, or nothing without a profile."""
    if not imports:
        return
    yield ""
    yield canvas.strong("imports of each command, by themselves")
    width = max(len(one.command) for one in imports)
    for one in imports:
        shown = one.heaviest[:_SHOWN_MODULES]
        heavy = ", ".join(f"{module.name} {format_number(module.milliseconds)}" for module in shown)
        total = f"{one.modules:>5} modules  {format_number(one.milliseconds):>5} ms"
        yield f"  {one.command:<{width}}  {total}  {canvas.dim(heavy)}"


def _format_head(sizes: list[int]) -> tuple[str, ...]:
    return ("", *map(format_size, sizes), "grows", "budget", "", "")


def _format_row(one: BenchGrowth) -> tuple[str, ...]:
    medians = [f"{format_number(value)} {one.unit}" for value in one.medians]
    factor = f"{format_number(one.factor)} {TIMES}"
    budget = one.budget or ""
    return (one.name, *medians, factor, budget, _format_steps(one.medians), _MARKS[one.within])


def _format_steps(medians: list[float]) -> str:
    """Return a step for each size, on a scale of decades."""
    least = max(min(medians), 1e-9)
    highest = len(_STEPS) - 1
    heights = [math.log10(max(value, least) / least) / _DECADES * highest for value in medians]
    return "".join(_STEPS[min(round(height), highest)] for height in heights)


def _paint_mark(line: str, one: BenchGrowth, canvas: Canvas) -> str:
    if one.within is None:
        return line
    return line[:-1] + (canvas.success if one.within else canvas.error)(line[-1])
