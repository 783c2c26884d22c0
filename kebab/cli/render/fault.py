"""An error, for a person."""

from collections.abc import Iterator

from kebab.cli.render.clean import clean
from kebab.cli.render.page import Page
from kebab.wire.error import ErrorReply


def draw(reply: ErrorReply, page: Page, log: str | None = None) -> Iterator[str]:
    """Yield what happened, what may mend it, the code to look up, and where the log has more."""
    yield from page.told("error:", clean(reply.message), page.bad)
    if reply.hint:
        yield from page.hint(clean(reply.hint))
    yield page.faint(f"code: {reply.code}")
    chain: object = reply.details.get("chain")
    if isinstance(chain, list):
        yield from (page.faint(f"  caused by: {clean(str(one))}") for one in chain)
    if log:
        yield page.faint(f"log: {clean(log)}: {reply.correlation_id}")
