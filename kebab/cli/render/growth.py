"""How figures grow with the corpus: a table of sizes, with a bar for what each size took."""

import math
from collections.abc import Iterator

from kebab.bench.budget import TIMES
from kebab.bench.sizes import short_size
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.number import short
from kebab.wire.bench import BenchGrowth

_STEPS = "▁▂▃▄▅▆▇█"
_DECADES = 4
"""The lowest step stands for the smallest of a figure, the highest for ten thousand times that."""


def draw(growth: list[BenchGrowth], canvas: Canvas) -> Iterator[str]:
    """Yield a heading and one line for each figure; nothing without growth."""
    if not growth:
        return
    sizes = growth[0].chunks
    yield ""
    yield canvas.strong(f"growth from {short_size(sizes[0])} to {short_size(sizes[-1])} passages")
    rows = [_head(sizes), *(_row(one) for one in growth)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    for number, row in enumerate(rows):
        cells = [
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=False))
        ]
        line = "  ".join(cells).rstrip()
        is_head = number == 0
        text = canvas.faint(line) if is_head else _marked(line, growth[number - 1], canvas)
        yield f"  {text}"


def _head(sizes: list[int]) -> tuple[str, ...]:
    return ("", *map(short_size, sizes), "grows", "budget", "", "")


def _row(one: BenchGrowth) -> tuple[str, ...]:
    mark = {True: "✓", False: "✗", None: ""}[one.within]
    medians = [f"{short(value)} {one.unit}" for value in one.medians]
    grows = f"{short(one.factor)} {TIMES}"
    return (one.name, *medians, grows, one.budget or "", _steps(one.medians), mark)


def _steps(medians: list[float]) -> str:
    """Return a step for each size, on a scale of decades."""
    least = max(min(medians), 1e-9)
    highest = len(_STEPS) - 1
    heights = [math.log10(max(value, least) / least) / _DECADES * highest for value in medians]
    return "".join(_STEPS[min(round(height), highest)] for height in heights)


def _marked(line: str, one: BenchGrowth, canvas: Canvas) -> str:
    if one.within is None:
        return line
    return line[:-1] + (canvas.good if one.within else canvas.bad)(line[-1])
