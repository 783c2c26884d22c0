"""Renders the text that references name."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from msgspec import UNSET

from kebab.app.reference_syntax import decode_percent
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_not_found
from kebab.cli.render.hits import format_location
from kebab.cli.render.layout import Style, StyledText
from kebab.cli.render.width import clean, clean_lines
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.fetch import FetchList
from kebab.wire.library import FetchResult, NotFound

_FRESHNESS = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}
_FETCH_NOTES = {"fresh": "", "changed": "  changed since", "gone": "  file is gone"}
_SHORTEST = 12
_NUMBER = re.compile(r"(?<=page|lide|cell)=(?=\d)")


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


def render_lines(reply: FetchResult, canvas: Canvas) -> Iterator[str]:
    """Yield the text: on a terminal with numbers of lines, and with marks between its pages."""
    text = reply.text.removesuffix("\n")
    marks = _list_marks(reply)
    if not canvas.is_terminal:
        yield from _insert_marks(text, reply.start_line, marks) if marks else [text]
        return
    yield _format_head(reply, canvas)
    if isinstance(reply.citation, LineCitation | CodeCitation):
        yield from _render_numbered(reply, text, canvas)
    else:
        marks = {line: canvas.location(mark) for line, mark in marks.items()}
        for line in _insert_marks(clean_lines(text), reply.start_line, marks):
            styled = StyledText()
            styled.add(line.expandtabs(4))
            yield from (part.rstrip() for part in styled.fold(canvas.width or _SHORTEST, canvas))
    if reply.truncated:
        yield canvas.dim(f"cut off by {'--max-chars' if reply.ref is UNSET else '--max-tokens'}")


def _format_head(reply: FetchResult, canvas: Canvas) -> str:
    """Return the line above a text: its document, the lines or the place, and what changed."""
    indexed = ", indexed text" if reply.is_indexed_text else ""
    note = canvas.warning(_FETCH_NOTES[reply.freshness] + indexed)
    if isinstance(reply.citation, LineCitation | CodeCitation):
        lines = f"lines {reply.start_line} to {reply.end_line} of {reply.line_count}"
        return f"{canvas.location(clean(reply.doc_path))}  {canvas.dim(lines)}{note}"
    whole = reply.kind == "doc"
    place = clean(reply.doc_path) if whole else format_location(reply.citation)
    return f"{canvas.location(place)}  {canvas.dim(clean(reply.title))}{note}"


def _render_numbered(reply: FetchResult, text: str, canvas: Canvas) -> Iterator[str]:
    """Yield lines with their numbers."""
    width = len(str(reply.end_line))
    requested = _find_requested_lines(reply)
    room = max(_SHORTEST, (canvas.width or 0) - width - 1)
    for number, line in enumerate(clean_lines(text).split("\n"), reply.start_line):
        styled = StyledText()
        styled.add(line.expandtabs(4), Style(dim=number not in requested))
        for part, shown in enumerate(styled.fold(room, canvas)):
            margin = " " * width if part else f"{number:>{width}}"
            yield f"{canvas.dim(margin)} {shown}".rstrip()


def _find_requested_lines(reply: FetchResult) -> range:
    """Return the requested lines; the other lines are context."""
    match reply.citation:
        case LineCitation(line=span) | CodeCitation(code=span):
            return range(span.start, span.end + 1)
        case _:
            return range(reply.start_line, reply.end_line + 1)


def _list_marks(reply: FetchResult) -> dict[int, str]:
    """Return a mark such as `[page 3]` for the first line of each place, if there are several."""
    places = reply.places or []
    marks = {one.line: _format_mark(one.uri) for one in places if one.line <= reply.end_line}
    return marks if len(marks) > 1 else {}


def _format_mark(uri: str) -> str:
    fragment = clean(decode_percent(uri.rpartition("#")[2]))
    return f"[{_NUMBER.sub(' ', fragment)}]"


def _insert_marks(text: str, start: int, marks: Mapping[int, str]) -> Iterator[str]:
    """Yield the lines of a text with each mark before its line."""
    for number, line in enumerate(text.split("\n"), start):
        if number in marks:
            yield marks[number]
        yield line


def list_notes(results: Iterable[FetchResult | NotFound], canvas: Canvas) -> Iterator[str]:
    """Yield what a reader of the bare lines cannot see: old or new text, and where the rest is."""
    for result in results:
        if isinstance(result, NotFound):
            continue
        path = clean(result.doc_path)
        if result.is_indexed_text:
            yield from canvas.note(f"this is the text that was indexed: {path}")
        elif result.freshness == "changed":
            yield from canvas.note(f"changed since it was indexed, these are its lines now: {path}")
        if result.truncated:
            yield from canvas.note(f"cut off by --max-tokens: {path}")
            if result.rest:
                yield from canvas.hint(shlex.join(["kebab", "fetch", result.rest]))
