"""Renders the outline of a document or a folder."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.hits import FRESHNESS_NOTES
from kebab.cli.render.width import clean, measure_width, pad
from kebab.core.media import CitationKind, detect_media_type, get_media_type
from kebab.wire.coverage import describe_gaps
from kebab.wire.outline import Outline, OutlineEntry

_GAP = "  "
_NARROWEST = 12


def render_outline(reply: Outline, canvas: Canvas) -> Iterator[str]:
    """Yield the sections of a document, or the tree of a folder; each line has a reference."""
    yield from _render_document(reply, canvas) if reply.freshness else _render_tree(reply, canvas)
    if not reply.freshness and (gaps := describe_gaps(reply.coverage, "lines")):
        yield from canvas.note(clean(gaps))


def _render_document(reply: Outline, canvas: Canvas) -> Iterator[str]:
    size = _format_size(reply)
    path = canvas.link(canvas.location(clean(reply.ref or "")), reply.file)
    note = canvas.warning(FRESHNESS_NOTES[reply.freshness or "fresh"])
    yield f"{path}{_GAP}{canvas.dim(size)}{note}"
    width = max((measure_width(clean(section.ref)) for section in reply.sections), default=0)
    digits = max((len(str(section.tokens)) for section in reply.sections), default=0)
    margin = width + digits + 2 * len(_GAP)
    for section in reply.sections:
        heading = f"{'#' * section.level} {clean(section.title)}"
        if canvas.width is not None and canvas.width - margin >= _NARROWEST:
            heading = canvas.fit(heading, margin)
        ref = canvas.location(pad(clean(section.ref), width))
        yield f"{ref}{_GAP}{canvas.dim(f'{section.tokens:>{digits}}')}{_GAP}{heading}"
    if not reply.sections:
        yield canvas.dim("no headings")


def _format_size(reply: Outline) -> str:
    """Return the size of a document in pages, slides or lines, and in tokens."""
    if reply.pages is None:
        return f"{pluralize(reply.line_count or 0, 'line')}, about {reply.tokens:,} tokens"
    media = get_media_type(detect_media_type(reply.doc_path or "") or "")
    unit = "slide" if media.cites is CitationKind.SLIDE else "page"
    return f"{pluralize(reply.pages, unit)}, about {reply.tokens:,} tokens"


def _render_tree(reply: Outline, canvas: Canvas) -> Iterator[str]:
    if reply.ref is not None:
        sizes = _format_sizes(reply.documents, reply.chunks, reply.tokens, reply.hidden)
        yield canvas.location(clean(reply.ref)) + _GAP + canvas.dim(sizes)
    base = 0 if reply.ref is None else 1
    for entry in reply.entries:
        yield _render_entry(entry, _GAP * (entry.depth + base), canvas)
    if not reply.documents:
        yield "no documents"
        yield canvas.dim("read some files: kebab ingest FOLDER")


def _render_entry(entry: OutlineEntry, indent: str, canvas: Canvas) -> str:
    """Return the line of a folder or a document: its reference, its sizes and its title."""
    if entry.kind == "folder":
        sizes = _format_sizes(entry.documents, entry.chunks, entry.tokens, entry.hidden)
        folder = clean(entry.ref).rstrip("/") + "/"
        return f"{indent}{canvas.location(folder)}{_GAP}{canvas.dim(sizes)}"
    sizes = f"{pluralize(entry.chunks, 'passage')}, about {entry.tokens:,} tokens"
    line = f"{indent}{canvas.location(clean(entry.ref))}{_GAP}{canvas.dim(sizes)}"
    margin = measure_width(f"{indent}{clean(entry.ref)}{_GAP}{sizes}{_GAP}")
    if canvas.width is not None and canvas.width - margin < _NARROWEST:
        return line
    return f"{line}{_GAP}{canvas.fit(clean(entry.title or ''), margin)}"


def _format_sizes(documents: int, chunks: int, tokens: int, hidden: int) -> str:
    counts = f"{pluralize(documents, 'document')}, {pluralize(chunks, 'passage')}"
    more = f", {hidden:,} not listed" if hidden else ""
    return f"{counts}, about {tokens:,} tokens{more}"
