"""Renders lines of files: those that references name, and those that match a pattern."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from kebab.cli.render.canvas import (
    Canvas,
    clean,
    clean_lines,
    measure_width,
    truncate,
    truncate_around,
)
from kebab.cli.render.compact import format_openable_path
from kebab.cli.render.documents import render_not_found
from kebab.cli.render.hits import (
    format_fragment,
    format_location,
    get_page,
    note_freshness,
    note_origin,
    render_unmatched_filters,
)
from kebab.core.files import CONTAINERS, decode_percent
from kebab.core.media import detect_media_type
from kebab.wire.coverage import describe_gaps, pluralize
from kebab.wire.fetch import FetchList, GrepHit, GrepResponse
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound

_NUMBER = re.compile(r"(?<=page|lide|cell)=(?=\d)")


def render_fetched(reply: FetchList, canvas: Canvas, *, named: bool = False) -> Iterator[str]:
    """Yield the lines of each reference; in a pipe several have a heading each.

    With `named` one has a heading too, and what was cut off is named.
    """
    is_headed = named or (len(reply.results) > 1 and not canvas.is_terminal)
    for number, result in enumerate(reply.results):
        if number:
            yield ""
        if isinstance(result, NotFound):
            yield from [f"==> {clean(result.name)} <=="] * (is_headed and not named)
            yield from render_not_found(result, canvas)
            continue
        if is_headed:
            note = note_freshness(result.freshness, ", {}") + note_origin(result.citation, ", {}")
            note += ", this is the text that was indexed" * result.is_indexed_text
            yield f"==> {clean(result.citation.uri)} <== {describe_extent(result)}{note}"
        yield from render_lines(result, canvas)
        if named and result.rest:
            yield f"cut off by max_tokens; the rest: {clean(result.rest)}"


def describe_extent(reply: FetchResult) -> str:
    """Return which lines of the file, or of its extracted text, are shown."""
    first, last = reply.start_line, reply.end_line
    return f"{f'lines {first} to' if first < last else 'line'} {last} of {reply.line_count}"


def render_lines(reply: FetchResult, canvas: Canvas) -> Iterator[str]:
    """Yield the text: on a terminal with numbers of lines, and with marks between its pages."""
    text = reply.text.removesuffix("\n")
    # A mark such as `[page 3]` for the first line of each place, if there are several.
    marks = {}
    for one in reply.places or []:
        if one.line <= reply.end_line:
            fragment = _NUMBER.sub(" ", clean(decode_percent(one.uri.rpartition("#")[2])))
            marks[one.line] = canvas.location(f"[{fragment}{note_origin(one, ', {}')}]")
    marks = marks if len(marks) > 1 or any(one.origin for one in reply.places or []) else {}
    if not canvas.is_terminal:
        yield from _insert_marks(text, reply.start_line, marks) if marks else [text]
        return
    indexed = ", indexed text" if reply.is_indexed_text else ""
    note = canvas.warning(note_freshness(reply.freshness, "  {}") + indexed)
    if span := reply.citation.cited_lines:
        extent = canvas.dim(describe_extent(reply))
        yield f"{canvas.location(clean(reply.doc_path))}  {extent}{note}"
        width = len(str(reply.end_line))
        for number, line in enumerate(clean_lines(text).split("\n"), reply.start_line):
            label, is_asked = f"{number:>{width}} ", span[0] <= number <= span[1]
            label = canvas.dim(label) if is_asked else label
            for part in canvas.wrap(line.expandtabs(4), label):
                yield part if is_asked else canvas.dim(part)
    else:
        is_whole = reply.kind == "doc"
        place = clean(reply.doc_path) if is_whole else format_location(reply.citation)
        yield f"{canvas.location(place)}  {canvas.dim(clean(reply.title))}{note}"
        for line in _insert_marks(clean_lines(text), reply.start_line, marks):
            yield from canvas.wrap(line.expandtabs(4))
    if reply.truncated:
        yield canvas.dim(f"cut off by {canvas.name_flag('--max-tokens')}")


def _insert_marks(text: str, start: int, marks: Mapping[int, str]) -> Iterator[str]:
    """Yield the lines of a text with each mark before its line."""
    for number, line in enumerate(text.split("\n"), start):
        if number in marks:
            yield marks[number]
        yield line


def list_notes(results: Sequence[FetchResult | NotFound], canvas: Canvas) -> Iterator[str]:
    """Yield what a reader of the bare lines cannot see: old or new text, and where the rest is."""
    for result in results:
        if isinstance(result, NotFound):
            continue
        path = result.doc_path
        is_whole = result.end_line - result.start_line + 1 >= result.line_count
        if len(results) == 1 and not (canvas.is_terminal or is_whole):
            yield from canvas.note(f"{describe_extent(result)}: {path}")
        if detect_media_type(path) in CONTAINERS:
            outline = shlex.join(["kebab", "outline", path])
            yield from canvas.note(f"its text is in the documents in it: {path}", outline)
        if result.is_indexed_text:
            yield from canvas.note(f"this is the text that was indexed: {path}")
        elif result.freshness == "changed":
            yield from canvas.note(f"changed since it was indexed, these are its lines now: {path}")
        if result.truncated:
            rest = shlex.join(["kebab", "fetch", result.rest]) if result.rest else None
            yield from canvas.note(f"cut off by {canvas.name_flag('--max-tokens')}: {path}", rest)


_ELLIPSIS = "…"
_MAX_NAMED = 3


def render_matches(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the matching lines: below their file on a terminal, else as `path:line:text`."""
    if canvas.is_terminal:
        yield from render_below_files(reply, canvas)
        return
    for number, (path, hits) in enumerate(_group_by_file(reply)):
        if number and any(hit.before or hit.after for hit in hits):
            yield "--"
        for hit, line, text in _list_lines(hits):
            place = f"-{line}" if hits[0].citation.cited_lines else ""
            if hit:
                yield f"{path}{_format_place(hit, line)}:{mark_cuts(hit)}"
            else:
                yield "--" if text is None else f"{path}{place}-{clean(text)}"


def render_below_files(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the matching lines below their file; a terminal cuts long ones."""
    for number, (path, hits) in enumerate(_group_by_file(reply)):
        if number:
            yield ""
        note = canvas.warning(note_freshness(hits[0].freshness))
        page = get_page(hits[0].citation)
        yield canvas.link(canvas.location(path), hits[0].file, hits[0].line, page) + note
        yield from _render_below_file(hits, canvas)


def _group_by_file(reply: GrepResponse) -> Iterator[tuple[str, list[GrepHit]]]:
    """Yield the path of each file with its hits."""
    for _, group in groupby(reply.hits, key=lambda hit: hit.doc_id):
        hits = list(group)
        yield clean(format_openable_path(hits[0].file, hits[0].doc_path)), hits


def _format_place(hit: GrepHit, number: int) -> str:
    """Return the place of a line behind its path: `:12`, or `#page=3` where files have no lines."""
    return f":{number}" if hit.citation.cited_lines else f"#{format_fragment(hit.citation)}"


def _render_below_file(hits: Sequence[GrepHit], canvas: Canvas) -> Iterator[str]:
    labels = {hit.line: _format_place(hit, hit.line).removeprefix(":") for hit in hits}
    last = hits[-1].line + len(hits[-1].after)
    width = max(len(str(last)), *map(measure_width, labels.values()))
    for hit, number, text in _list_lines(hits):
        label = labels.get(number, str(number))
        if text is None:
            yield canvas.dim("--")
        elif hit:
            yield canvas.success(f"{label:>{width}}:") + _highlight(hit, canvas, width + 1)
        else:
            label = label if label.isdecimal() and hits[0].citation.cited_lines else ""
            line = f"{label:>{width}}-{clean(text)}"
            yield canvas.dim(line if canvas.width is None else truncate(line, canvas.width))


def _list_lines(hits: Sequence[GrepHit]) -> Iterator[tuple[GrepHit | None, int, str | None]]:
    """Yield the lines of one file: a hit, or a line around hits; no text where lines are left out.

    A line is yielded once, even when it is around several hits.
    """
    matching = {hit.line: hit for hit in hits}
    around: dict[int, str] = {}
    for hit in hits:
        around |= dict(enumerate(hit.before, hit.line - len(hit.before)))
        around |= dict(enumerate(hit.after, hit.line + 1))
    last = None
    for number in sorted({*matching, *around}):
        if around and last is not None and number > last + 1:
            yield None, 0, None
        last = number
        found = matching.get(number)
        yield found, number, found.text if found else around[number]


def mark_cuts(hit: GrepHit) -> str:
    """Return the text of a hit on one line, with an ellipsis where it was cut."""
    text = clean(hit.text)
    if not hit.is_cut:
        return text
    first = hit.highlights[0][0] if hit.highlights else hit.column - 1
    start = "" if hit.column - 1 == first else _ELLIPSIS
    return f"{start}{text}{_ELLIPSIS}"


def _highlight(hit: GrepHit, canvas: Canvas, margin: int) -> str:
    """Return the text of a hit with its matches marked, cut to the terminal around the first."""
    text, shift = clean(hit.text) + _ELLIPSIS * hit.is_cut, 0
    if canvas.width is not None:
        first = hit.highlights[0][0] if hit.highlights else 0
        text, shift = truncate_around(text, first, canvas.width - margin)
    parts, position = [], 0
    for begin, end in hit.highlights:
        parts += [text[position : begin + shift], canvas.match(text[begin + shift : end + shift])]
        position = end + shift
    return "".join([*parts, text[position:]])


def render_matching_files(
    reply: GrepResponse, canvas: Canvas, *, counted: bool = False
) -> Iterator[str]:
    """Yield the path of each file with matches, `counted` with the number of its matching lines."""
    for found in reply.files:
        path = format_openable_path(found.file, found.doc_path)
        path = canvas.location(clean(path)) if canvas.is_terminal else path
        yield f"{path}:{found.lines}" if counted else path


def list_grep_notes(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield what limits the result: unmatched filters, skipped files, and a limit."""
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    if reply.skipped:
        shown = reply.skipped[:_MAX_NAMED]
        names = ", ".join(f"{one.doc_path} ({one.reason.replace('_', ' ')})" for one in shown)
        rest = len(reply.skipped) - len(shown)
        yield from canvas.note(f"not searched: {names}" + (f" and {rest} more" if rest else ""))
    if reply.has_more:
        flags = filter(None, map(canvas.name_flag, ("--limit", "--max-count")))
        limits = " or ".join(f"`{flag}`" for flag in flags)
        yield from canvas.note(f"further lines match; raise {limits}")
    gaps = describe_gaps(reply.coverage, "lines")
    if not reply.files and r"\|" in reply.pattern:
        yield from canvas.note(r"`\|` is the sign itself; alternatives are written `a|b`")
    if not reply.files and not reply.unmatched_filters:
        files = pluralize(reply.searched_files, "file")
        missing = f" ({gaps})" if gaps else ""
        yield from canvas.note(f"no line matches in {files}: {reply.pattern}{missing}")
    elif gaps:
        yield from canvas.note(f"not searched: {gaps}")
