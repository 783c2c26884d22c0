"""An error, for a person."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.wire.error import ErrorReply


def draw(reply: ErrorReply, canvas: Canvas, log: str | None = None) -> Iterator[str]:
    """Yield what happened, what may mend it, the code to look up, and where the log has more."""
    yield from canvas.wrap_labelled("error:", clean(reply.message), canvas.bad)
    if reply.hint:
        yield from canvas.hint(clean(reply.hint))
    yield canvas.faint(f"code: {reply.code}")
    chain: object = reply.details.get("chain")
    if isinstance(chain, list):
        yield from (canvas.faint(f"  caused by: {clean(str(one))}") for one in chain)
    if log:
        yield canvas.faint(f"log: {clean(log)}: {reply.correlation_id}")
