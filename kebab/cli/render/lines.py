"""Original lines of a file: bare for a pipe, with a header and line numbers for a person."""

from collections.abc import Iterator

from kebab.cli.render.clean import clean, clean_lines
from kebab.cli.render.page import Page
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.library import FetchResult


def draw(reply: FetchResult, page: Page) -> Iterator[str]:
    """Yield the lines."""
    text = reply.text.removesuffix("\n")
    if not page.terminal:
        yield text
        return
    yield _header(reply, page)
    width = len(str(reply.end_line))
    asked = _asked(reply)
    for number, line in enumerate(clean_lines(text).split("\n"), reply.start_line):
        margin = f"{number:>{width}} "
        yield page.faint(margin) + (line if number in asked else page.faint(line))
    if reply.truncated:
        yield page.faint("cut off by --max-chars")


def _header(reply: FetchResult, page: Page) -> str:
    lines = f"lines {reply.start_line} to {reply.end_line} of {reply.line_count}"
    fresh = {"fresh": "", "changed": "  changed since", "gone": "  file is gone, indexed text"}
    note = page.odd(fresh[reply.freshness])
    return f"{page.place(clean(reply.doc_path))}  {page.faint(lines)}{note}"


def _asked(reply: FetchResult) -> range:
    """Return the lines that were asked for; the others are context."""
    match reply.citation:
        case LineCitation(line=span):
            return range(span.start, span.end + 1)
        case CodeCitation(code=code):
            return range(code.start, code.end + 1)
        case _:
            return range(reply.start_line, reply.end_line + 1)
