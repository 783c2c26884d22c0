"""A name that nothing has, or that several things could mean."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.wire.library import NotFound


def draw(reply: NotFound, canvas: Canvas) -> Iterator[str]:
    """Yield why there is no answer, and which names would have one."""
    yield clean(reply.error.message)
    if reply.error.candidates:
        title = "which of these?" if reply.error.kind == "ambiguous" else "did you mean?"
        yield canvas.faint(title)
        yield from (f"  {clean(one)}" for one in reply.error.candidates)
