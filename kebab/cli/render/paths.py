"""Renders hits as lines for editors and other programs: paths, or `path:line:column:text`."""

from collections.abc import Iterator
from pathlib import Path

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.hits import (
    describe_absent_terms,
    describe_left_out,
    describe_no_answer,
    get_line,
    render_degraded,
    render_gaps,
    render_refresh,
)
from kebab.cli.render.width import clean, clean_lines
from kebab.wire.search import SearchHit, SearchResponse


def render_paths(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the path of each document once."""
    paths = dict.fromkeys(format_openable_path(hit.file, hit.doc_path) for hit in reply.hits)
    for path in paths:
        yield clean(path) if canvas.is_terminal else path


def render_vimgrep(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each hit: its path, and the line that matches best.

    The column counts bytes from 1, as in the lines that Vim and `rg --vimgrep` write.
    """
    for hit in reply.hits:
        path = format_openable_path(hit.file, hit.doc_path)
        number, column, line = find_best_line(hit)
        place = clean(path) if canvas.is_terminal else path
        yield f"{place}:{number}:{column}:{clean_lines(line)}"


def render_notes(reply: SearchResponse, canvas: Canvas, next_page: str) -> Iterator[str]:
    """Yield what is to know about a page of paths or lines, for another channel than theirs."""
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    yield from render_refresh(reply.refresh, canvas)
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    if reply.hits and not reply.convincing:
        yield from canvas.note(describe_no_answer(reply, "nothing convincing"))
    incomplete = reply.coverage is not None and not reply.coverage.complete
    if incomplete and not (reply.hits or reply.unmatched_filters):
        yield from canvas.note(describe_no_answer(reply, "no results"))
    yield from render_gaps(reply, canvas)
    if reply.absent_terms and not reply.unmatched_filters:
        yield from canvas.note(describe_absent_terms(reply))
    if reply.left_out:
        yield describe_left_out(reply.left_out)
    if next_page:
        yield f"more: {next_page}"


def format_openable_path(file: str | None, doc_path: str) -> str:
    """Return a path that opens from the working directory: below it relative, else absolute.

    Text from standard input has no file, so its name is returned.
    """
    if file is None:
        return doc_path
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return file


def find_best_line(hit: SearchHit) -> tuple[int, int, str]:
    """Return the number, the column and the text of the line with the most different matches.

    The column is that of the first match, counted in bytes from 1. A file without lines has one.
    """
    text, best = hit.text or "", (0, 0, 0)
    start, most = 0, -1
    for index, line in enumerate(text.split("\n")):
        end = start + len(line)
        inside = [span for span in hit.text_highlights or [] if start <= span[0] < end]
        words = {text[first:last].casefold() for first, last in inside}
        if len(words) > most and (line.strip() or not index):
            first = inside[0][0] if inside else start
            best, most = (index, start, first), len(words)
        start = end + 1
    index, start, first = best
    column = len(text[start:first].encode("utf-8", "surrogatepass")) + 1
    top, found = get_line(hit.citation), text[start:].partition("\n")[0]
    return (1, 1, found) if top is None else (top + index, column, found)
