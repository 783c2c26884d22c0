"""Original lines of a file: bare for a pipe, with a header and line numbers for a person."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean, clean_lines
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.library import FetchResult


def draw(reply: FetchResult, canvas: Canvas) -> Iterator[str]:
    """Yield the lines."""
    text = reply.text.removesuffix("\n")
    if not canvas.terminal:
        yield text
        return
    yield _header(reply, canvas)
    width = len(str(reply.end_line))
    asked = _asked(reply)
    for number, line in enumerate(clean_lines(text).split("\n"), reply.start_line):
        margin = f"{number:>{width}} "
        yield canvas.faint(margin) + (line if number in asked else canvas.faint(line))
    if reply.truncated:
        yield canvas.faint("cut off by --max-chars")


def _header(reply: FetchResult, canvas: Canvas) -> str:
    lines = f"lines {reply.start_line} to {reply.end_line} of {reply.line_count}"
    fresh = {"fresh": "", "changed": "  changed since", "gone": "  file is gone, indexed text"}
    note = canvas.odd(fresh[reply.freshness])
    return f"{canvas.place(clean(reply.doc_path))}  {canvas.faint(lines)}{note}"


def _asked(reply: FetchResult) -> range:
    """Return the lines that were asked for; the others are context."""
    match reply.citation:
        case LineCitation(line=span):
            return range(span.start, span.end + 1)
        case CodeCitation(code=code):
            return range(code.start, code.end + 1)
        case _:
            return range(reply.start_line, reply.end_line + 1)
