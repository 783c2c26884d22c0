"""Renders the lines that references name."""

import shlex
from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_lines, render_not_found
from kebab.cli.render.width import clean
from kebab.wire.fetch import FetchList
from kebab.wire.library import FetchResult, NotFound

_FRESHNESS = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}


def render_fetched(reply: FetchList, canvas: Canvas) -> Iterator[str]:
    """Yield the lines of each reference; in a pipe several have a heading each."""
    several = len(reply.results) > 1
    for number, result in enumerate(reply.results):
        if number:
            yield ""
        if several and not canvas.is_terminal:
            yield _format_heading(result)
        if isinstance(result, NotFound):
            yield from render_not_found(result, canvas)
        else:
            yield from render_lines(result, canvas)


def _format_heading(result: FetchResult | NotFound) -> str:
    if isinstance(result, NotFound):
        return f"==> {clean(result.name)} <=="
    return f"==> {clean(result.citation.uri)} <=={_FRESHNESS[result.freshness]}"


def list_notes(reply: FetchList, canvas: Canvas) -> Iterator[str]:
    """Yield what a reader of the bare lines cannot see: old text, and where the rest is."""
    for result in reply.results:
        if isinstance(result, NotFound):
            continue
        path = clean(result.doc_path)
        if result.is_indexed_text:
            yield from canvas.note(f"this is the text that was indexed: {path}")
        if result.truncated:
            yield from canvas.note(f"cut off by --max-tokens: {path}")
            if result.rest:
                yield from canvas.hint(shlex.join(["kebab", "fetch", result.rest]))
