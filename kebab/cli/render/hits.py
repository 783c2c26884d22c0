"""Renders a page of hits."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import UNSET

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.excerpt import INDENT, render_excerpt
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.width import clean, measure_width
from kebab.wire.citation import (
    CellCitation,
    Citation,
    CodeCitation,
    Freshness,
    LineCitation,
    PageCitation,
    SectionCitation,
    SlideCitation,
)
from kebab.wire.search import DegradedChannel, Retrieval, SearchHit, SearchResponse


def format_location(citation: Citation) -> str:
    """Return a citation as `path:line`, or with its page, slide, cell or section."""
    return clean(citation.path) + _format_position(citation)


def format_line_range(citation: Citation) -> str:
    """Return a citation of lines as `path:first-last`, and any other like `format_location`."""
    match citation:
        case LineCitation(line=lines) | CodeCitation(code=lines) if lines.end > lines.start:
            return f"{clean(citation.path)}:{lines.start}-{lines.end}"
        case _:
            return format_location(citation)


def _format_position(citation: Citation) -> str:
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
    """Return the link to a file, None without an absolute path that a link can express."""
    if file is None:
        return None
    try:
        return Path(file).as_uri()
    except (ValueError, UnicodeEncodeError):
        return None


_NEAREST = 3
"""The number of passages that are shown when none is convincing."""

FRESHNESS_NOTES = {"fresh": "", "changed": "  (changed since)", "gone": "  (file is gone)"}
"""The notes on files that changed after they were indexed."""


def render_hits(reply: SearchResponse, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield the hits and notes on them; `next_page` is the command for the next page."""
    if not reply.hits:
        yield from _render_no_hits(reply, canvas)
    weak = _is_weak(reply)
    if weak:
        yield from canvas.note(f"nothing convincing for: {clean(reply.query)}")
        yield canvas.dim("the nearest passages, likely on other matters (all of them: --json)")
        yield ""
    for hit in reply.hits[:_NEAREST] if weak else reply.hits:
        yield from _render_hit(hit, canvas)
        yield ""
    yield from _render_footer(reply, canvas, next_page)


def _is_weak(reply: SearchResponse) -> bool:
    """Return whether no hit of a first page is likely to answer the query."""
    first = bool(reply.hits) and reply.hits[0].rank == 1
    return first and all(hit.confidence == "weak" for hit in reply.hits)


def _render_hit(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    paint = {"strong": canvas.success, "fair": canvas.warning, "weak": canvas.dim}[hit.confidence]
    score = paint(f"{hit.score:.2f} {hit.confidence:<6}")
    where = render_location(format_location(hit.citation), hit.file, hit.freshness, canvas)
    yield f"{canvas.strong(f'{hit.rank:>2}')}  {score}  {where}"
    if context := format_headings(hit.title, hit.heading_path):
        yield INDENT + canvas.dim(canvas.fit(context, len(INDENT)))
    yield from _render_text(hit, canvas)
    if hit.retrieval.lifts is not UNSET:
        yield from canvas.wrap_with_label(
            f"{INDENT}evidence", _format_scores(hit.retrieval), canvas.dim
        )


def _render_text(hit: SearchHit, canvas: Canvas) -> Iterator[str]:
    """Yield the whole passage if the hit contains it, otherwise its snippet."""
    headings = hit.heading_path or [hit.title]
    if hit.text:
        spans = hit.text_highlights or []
        yield from render_excerpt(
            hit.text, spans, canvas, media=hit.media, headings=headings, lines=None
        )
    else:
        yield from render_excerpt(
            hit.snippet, hit.highlights, canvas, media=hit.media, headings=headings
        )


def render_location(text: str, file: str | None, freshness: Freshness, canvas: Canvas) -> str:
    """Return a location as a link to its file, with a note when the file changed."""
    note = canvas.warning(FRESHNESS_NOTES[freshness])
    return canvas.link(canvas.location(text), build_file_uri(file)) + note


def _format_scores(retrieval: Retrieval) -> str:
    """Return the ranks and scores of a hit, for a trace."""
    channels = {
        "words": (retrieval.lexical_rank, retrieval.lexical_score),
        "meaning": (retrieval.vector_rank, retrieval.vector_score),
    }
    parts = [
        f"{name} {rank or 'beyond the candidates'} ({score:.3f})"
        for name, (rank, score) in channels.items()
        if score is not None
    ]
    parts += [f"{boost.reason} {boost.value:+.3f}" for boost in retrieval.lifts or []]
    return ", ".join([*parts, f"in all {retrieval.fusion_score:.3f}"])


def format_headings(title: str, path: list[str]) -> str:
    """Return title and headings on one line; a title that equals the first heading appears once."""
    below = path[1:] if path[:1] == [title] else path
    return " > ".join(clean(heading) for heading in (title, *below) if heading)


def _render_no_hits(reply: SearchResponse, canvas: Canvas) -> Iterator[str]:
    yield f"no results for: {clean(reply.query)}"
    if reply.unmatched_filters:
        yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
        return
    yield canvas.dim("try fewer or other words, or drop a filter")
    if reply.mode != "hybrid":
        yield canvas.dim("try both channels: --mode hybrid")
    yield canvas.dim("see what is indexed: kebab list")
    yield canvas.dim("read more files: kebab ingest FOLDER")


def _render_footer(reply: SearchResponse, canvas: Canvas, next_page: str) -> Iterator[str]:
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    if reply.truncated:
        yield canvas.dim("shortened to fit --max-tokens")
    if reply.has_more and reply.next_cursor and not _is_weak(reply):
        yield canvas.dim("more: ") + canvas.dim(next_page or f"--cursor {reply.next_cursor}")
    stages = reply.trace or []
    width = max((measure_width(stage.stage) for stage in stages), default=0)
    for stage in stages:
        figures = f"{stage.duration_ms:8.2f} ms  {stage.candidates:6}"
        yield canvas.dim(clean(f"{stage.stage:<{width}}  {figures}  {stage.note}").rstrip())


def render_degraded(degraded: DegradedChannel, canvas: Canvas, note: str = "") -> Iterator[str]:
    """Yield which channel did not work and what may fix it; `note` replaces the first words."""
    note = note or f"no {clean(degraded.channel)} search"
    yield from canvas.note(f"{note}: {clean(degraded.reason)}")
    if degraded.hint:
        yield from canvas.hint(clean(degraded.hint))
