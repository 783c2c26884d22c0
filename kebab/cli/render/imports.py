"""What each command imports: how many modules, and which of them take longest."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.number import short
from kebab.wire.bench import BenchImports

_SHOWN = 4


def draw(imports: list[BenchImports], canvas: Canvas) -> Iterator[str]:
    """Yield a heading and one line for each command; nothing without a profile."""
    if not imports:
        return
    yield ""
    yield canvas.strong("imports of each command, by themselves")
    width = max(len(one.command) for one in imports)
    for one in imports:
        heavy = ", ".join(f"{at.name} {short(at.milliseconds)}" for at in one.heaviest[:_SHOWN])
        took = f"{one.modules:>5} modules  {short(one.milliseconds):>5} ms"
        yield f"  {one.command:<{width}}  {took}  {canvas.faint(heavy)}"
