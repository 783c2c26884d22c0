"""Renders the lines that match a pattern."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.hits import FRESHNESS_NOTES, format_fragment, get_page
from kebab.cli.render.paths import format_openable_path
from kebab.cli.render.width import clean, measure_width, truncate
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.coverage import describe_gaps
from kebab.wire.grep import GrepHit, GrepResponse, SkippedFile

_ELLIPSIS = "…"
_NARROWEST = 20
_REASONS = {
    "gone": "files are gone",
    "unreadable": "files cannot be read",
    "not_text": "files are no longer text",
}
_MAX_NAMED = 3


def render_matches(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the matching lines: below their file on a terminal, else as `path:line:text`."""
    for number, (_, group) in enumerate(groupby(reply.hits, key=lambda hit: hit.doc_id)):
        hits = list(group)
        if not canvas.is_terminal:
            if number and any(hit.before or hit.after for hit in hits):
                yield "--"
            yield from _render_plain(hits)
            continue
        if number:
            yield ""
        path = canvas.location(clean(format_openable_path(hits[0].file, hits[0].doc_path)))
        note = canvas.warning(FRESHNESS_NOTES[hits[0].freshness])
        page = get_page(hits[0].citation)
        yield canvas.link(path, hits[0].file, hits[0].line, page) + note
        yield from _render_below_file(hits, canvas)


def _render_plain(hits: Sequence[GrepHit]) -> Iterator[str]:
    path = clean(format_openable_path(hits[0].file, hits[0].doc_path))
    for hit, number, text in _list_lines(hits):
        if text is None:
            yield "--"
        elif hit:
            yield f"{path}{_format_place(hit, number)}:{mark_cuts(hit)}"
        else:
            yield (
                f"{path}-{number}-{clean(text)}" if _has_lines(hits[0]) else f"{path}-{clean(text)}"
            )


def _format_place(hit: GrepHit, number: int) -> str:
    """Return the place of a line behind its path: `:12`, or `#page=3` where files have no lines."""
    if _has_lines(hit):
        return f":{number}"
    return f"#{format_fragment(hit.citation)}"


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
            label = label if label.isdecimal() and _has_lines(hits[0]) else ""
            yield canvas.dim(canvas.fit(f"{label:>{width}}-{clean(text)}", 0))


def _has_lines(hit: GrepHit) -> bool:
    return isinstance(hit.citation, LineCitation | CodeCitation)


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
    room = max(_NARROWEST, (canvas.width or 0) - margin)
    text, spans = clean(hit.text).replace("\t", " "), hit.highlights
    lead = ""
    first = spans[0][0] if spans else 0
    if measure_width(text) > room and first > room * 2 // 3:
        start = first - room // 3
        text, lead = text[start:], _ELLIPSIS
        spans = [(max(0, begin - start), end - start) for begin, end in spans if end > start]
    if hit.is_cut or measure_width(lead + text) > room:
        text = truncate(f"{text}{_ELLIPSIS if hit.is_cut else ''}", room - len(lead))
    parts, position = [lead], 0
    for begin, end in spans:
        parts += [text[position:begin], canvas.match(text[begin:end])]
        position = end
    return "".join([*parts, text[position:]])


def render_match_positions(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each match, as `rg --vimgrep`; the column counts bytes from 1."""
    del canvas
    for hit in reply.hits:
        path = clean(format_openable_path(hit.file, hit.doc_path))
        text = mark_cuts(hit)
        for column in _list_columns(hit):
            # An editor that opens a PDF as text must not be sent to a line of its extracted text.
            place = f"{hit.line}:{column}" if _has_lines(hit) else "1:1"
            yield f"{path}:{place}:{text}"


def _list_columns(hit: GrepHit) -> list[int]:
    """Return the column of each match in bytes, from 1."""
    starts = [start for start, _ in hit.highlights] or [0]
    return [len(hit.text[:start].encode("utf-8", "surrogatepass")) + 1 for start in starts]


def render_matching_files(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the path of each file with matches."""
    for found in reply.files:
        path = format_openable_path(found.file, found.doc_path)
        yield canvas.location(clean(path)) if canvas.is_terminal else path


def render_match_counts(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield the path of each file with the number of its matching lines."""
    for found in reply.files:
        path = clean(format_openable_path(found.file, found.doc_path))
        yield f"{canvas.location(path)}:{found.lines}"


def list_grep_notes(reply: GrepResponse, canvas: Canvas) -> Iterator[str]:
    """Yield what limits the result: unmatched filters, skipped files, and a limit."""
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    for reason, words in _REASONS.items():
        skipped = [one for one in reply.skipped if one.reason == reason]
        if skipped:
            yield from canvas.note(f"{words}: {_name_some(skipped)}")
    if reply.has_more:
        yield from canvas.note("further lines match; raise `--limit` or `--max-count`")
    gaps = describe_gaps(reply.coverage, "lines")
    if not reply.files and not reply.unmatched_filters:
        files = pluralize(reply.searched_files, "file")
        missing = f" ({clean(gaps)})" if gaps else ""
        yield from canvas.note(f"no line matches in {files}: {clean(reply.pattern)}{missing}")
    elif gaps:
        yield from canvas.note(f"not searched: {clean(gaps)}")


def _name_some(skipped: Sequence[SkippedFile]) -> str:
    names = ", ".join(clean(one.doc_path) for one in skipped[:_MAX_NAMED])
    more = len(skipped) - _MAX_NAMED
    return f"{names} and {more} more" if more > 0 else names
