"""Error codes: one explained at length, or all in a table."""

from collections.abc import Iterator

from kebab.cli.render.page import Page
from kebab.cli.render.sheet import labelled
from kebab.wire.catalog import describe_backoff
from kebab.wire.error import ErrorCatalog, ErrorRow


def draw_table(reply: ErrorCatalog, page: Page) -> Iterator[str]:
    """Yield one line per code."""
    width = max(len(one.code) for one in reply.errors)
    for one in reply.errors:
        yield f"{page.strong(f'{one.code:<{width}}')}  {one.exit_code}  {one.message}"
    if page.terminal:
        yield ""
        yield page.faint("more of one: kebab explain CODE")


def draw_explanation(reply: ErrorCatalog, page: Page) -> Iterator[str]:
    """Yield all that is to be said of each code."""
    for number, one in enumerate(reply.errors):
        if number:
            yield ""
        yield from _explained(one, page)


def _explained(one: ErrorRow, page: Page) -> Iterator[str]:
    yield page.strong(one.code)
    yield ""
    for paragraph in one.explanation.split("\n\n"):
        yield from page.paragraph(" ".join(paragraph.split()))
        yield ""
    details = ", ".join(f"{field.name} ({field.type})" for field in one.details)
    yield from labelled(
        [
            ("message", one.message),
            ("hint", one.hint or ""),
            ("details", details),
            ("exit status", str(one.exit_code)),
            ("retry", one.retry),
            ("try again", describe_backoff(one.backoff) if one.backoff else ""),
            ("reserved", "nothing raises it yet" if one.reserved else ""),
            ("kind", one.kind),
            ("http", str(one.http_status)),
            ("grpc", one.grpc_status),
        ],
        page,
    )
