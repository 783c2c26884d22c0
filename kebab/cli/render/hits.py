"""Renders a page of hits."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UNSET

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.width import clean, measure_width, truncate, wrap_text
from kebab.wire.citation import (
    CellCitation,
    Citation,
    CodeCitation,
    LineCitation,
    PageCitation,
    SectionCitation,
    SlideCitation,
)
from kebab.wire.search import DegradedChannel, Retrieval, SearchHit, SearchResponse, TraceStage


def format_location(citation: Citation) -> str:
    """Return a place as `path:line`, or with its page, slide, cell or section."""
    return clean(citation.path) + _detail(citation)


def format_line_range(citation: Citation) -> str:
    """Return a place as `path:first-last`; where there are no lines, as `format_location` does."""
    match citation:
        case LineCitation(line=lines) | CodeCitation(code=lines) if lines.end > lines.start:
            return f"{clean(citation.path)}:{lines.start}-{lines.end}"
        case _:
            return format_location(citation)


def _detail(citation: Citation) -> str:
    match citation:
        case LineCitation():
            return f":{citation.line.start}"
        case CodeCitation():
            return f":{citation.code.start}"
        case PageCitation():
            return f" p. {citation.page.number}"
        case SlideCitation():
            return f" slide {citation.slide.number}"
        case CellCitation():
            return f" cell {citation.cell.index}"
        case SectionCitation():
            return f" § {clean(citation.section.title)}"


def build_file_uri(file: str | None) -> str | None:
    """Return the link to a file, None when there is no absolute path or it cannot be one."""
    if file is None:
        return None
    try:
        return Path(file).as_uri()
    except (ValueError, UnicodeEncodeError):
        return None


INDENT = "    "
_NARROWEST = 20


def render_snippet(
    snippet: str, highlights: Sequence[tuple[int, int]], canvas: Canvas, indent: str = INDENT
) -> Iterator[str]:
    """Yield the lines of a snippet, broken to the canvas's width."""
    text = clean(snippet)
    marked = {place for start, end in highlights for place in range(start, end)}
    marks = [place in marked for place in range(len(text))]
    text, marks = _squeezed(text, marks)
    room = max(_NARROWEST, canvas.width - len(indent)) if canvas.width else None
    for start, end in wrap_text(text, room) if room else [(0, len(text))]:
        yield indent + _marked(text[start:end], marks[start:end], canvas)


def _squeezed(text: str, marks: list[bool]) -> tuple[str, list[bool]]:
    """Return text and marks with each run of blanks as one space, and none at the ends."""
    kept = [
        place
        for place, character in enumerate(text)
        if character != " " or (place + 1 < len(text) and text[place + 1] != " ")
    ]
    if kept and text[kept[0]] == " ":
        kept = kept[1:]
    return "".join(text[place] for place in kept), [marks[place] for place in kept]


def _marked(text: str, marks: list[bool], canvas: Canvas) -> str:
    if not canvas.color:
        return text
    parts, start = [], 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marks[end] != marks[start]:
            piece = text[start:end]
            parts.append(canvas.match(piece) if marks[start] else piece)
            start = end
    return "".join(parts)


_NEAREST = 3
"""How many passages are shown when none is convincing."""

FRESHNESS_NOTES = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}
"""What is said of a file that is not as it was indexed."""


def render_hits(reply: SearchResponse, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield the hits, then what a reader must know of them; `next_page` is the command for the next page."""
    if not reply.hits:
        yield from _nothing(reply, canvas)
    elif _unconvincing(reply):
        yield from _nearest(reply, canvas)
    else:
        yield from _all(reply.hits, canvas)
    yield from _footer(reply, canvas, next_page)


def _unconvincing(reply: SearchResponse) -> bool:
    """Return whether a search found nothing that is likely to answer; later pages never do."""
    first = bool(reply.hits) and reply.hits[0].rank == 1
    return first and all(hit.confidence == "weak" for hit in reply.hits)


def _nearest(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    yield from canvas.note(f"nothing convincing for: {clean(reply.query)}")
    yield canvas.dim("the nearest passages, likely on other matters (all of them: --json)")
    yield ""
    yield from _all(reply.hits[:_NEAREST], canvas)


def _all(hits: Sequence[SearchHit], canvas: Canvas) -> Iterator[str]:
    for hit in hits:
        yield from _hit(hit, canvas)
        yield ""


def _hit(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    uri = build_file_uri(hit.file)
    where = canvas.link(canvas.location(format_location(hit.citation)), uri)
    note = canvas.warning(FRESHNESS_NOTES[hit.freshness])
    yield f"{canvas.strong(f'{hit.rank:>2}')}  {_score(hit, canvas)}  {where}{note}"
    if context := format_headings(hit.title, hit.heading_path):
        yield INDENT + canvas.dim(truncate(context, canvas.width - 4) if canvas.width else context)
    yield from render_snippet(hit.snippet, hit.highlights, canvas)
    if hit.retrieval.lifts is not UNSET:
        yield from canvas.wrap_with_label(f"{INDENT}evidence", _evidence(hit.retrieval), canvas.dim)


def _score(hit: SearchHit, canvas: Canvas) -> str:
    paint = {"strong": canvas.success, "fair": canvas.warning, "weak": canvas.dim}[hit.confidence]
    return paint(f"{hit.score:.2f} {hit.confidence:<6}")


def _evidence(found: Retrieval) -> str:
    """Return what the evidence of a hit is of, for a trace."""
    channels = {
        "words": (found.lexical_rank, found.lexical_score),
        "meaning": (found.vector_rank, found.vector_score),
    }
    parts = [
        f"{name} {rank or 'beyond the candidates'} ({score:.3f})"
        for name, (rank, score) in channels.items()
        if score is not None
    ]
    parts += [f"{one.reason} {one.value:+.3f}" for one in found.lifts or []]
    return ", ".join([*parts, f"in all {found.fusion_score:.3f}"])


def format_headings(title: str, path: list[str]) -> str:
    """Return title and headings on one line; a title that opens the headings is said once."""
    below = path[1:] if path[:1] == [title] else path
    return " > ".join(clean(one) for one in (title, *below) if one)


def _nothing(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    yield f"no results for: {clean(reply.query)}"
    yield canvas.dim("try fewer or other words, or drop a filter")
    if reply.mode != "hybrid":
        yield canvas.dim("try both channels: --mode hybrid")
    yield canvas.dim("see what is indexed: kebab list")
    yield canvas.dim("read more files: kebab ingest FOLDER")


def _footer(reply: SearchResponse, canvas: Canvas, next_page: str) -> Iterator[str]:
    for one in reply.degraded:
        yield from render_degraded(one, canvas)
    if reply.truncated:
        yield canvas.dim("shortened to fit --max-tokens")
    if reply.has_more and reply.next_cursor and not _unconvincing(reply):
        yield canvas.dim("more: ") + canvas.dim(next_page or f"--cursor {reply.next_cursor}")
    yield from _trace(reply.trace or [], canvas)


def render_degraded(one: DegradedChannel, canvas: Canvas) -> Iterator[str]:
    """Yield which channel could not look, and what may mend it."""
    yield from canvas.note(f"no {clean(one.channel)} search: {clean(one.reason)}")
    if one.hint:
        yield from canvas.hint(clean(one.hint))


def _trace(stages: list[TraceStage], canvas: Canvas) -> Iterator[str]:
    width = max((measure_width(one.stage) for one in stages), default=0)
    for one in stages:
        line = f"{one.stage:<{width}}  {one.duration_ms:8.2f} ms  {one.candidates:6}  {one.note}"
        yield canvas.dim(clean(line).rstrip())
