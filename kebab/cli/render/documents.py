"""Renders documents, passages and removals."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_bytes, format_tabs, pluralize, render_fields
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.hits import format_line_range, format_location
from kebab.cli.render.related import render_links
from kebab.cli.render.width import clean, clean_lines, measure_width, pad, truncate, truncate_path
from kebab.wire.citation import Citation
from kebab.wire.health import ResetReport
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    DocSummary,
    NotFound,
    RemoveReport,
)

_DATE = len("2025-01-31")
_COUNT = "passages"
_SHORT_ID = 12


def render_document_list(reply: DocList, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield one line per document; `next_page` is the command for the next page."""
    if canvas.width is None:
        for doc in reply.documents:
            fields = (doc.doc_id, doc.source, doc.doc_path, doc.title, str(doc.chunk_count))
            yield format_tabs(*fields, doc.modified_at, doc.freshness)
        return
    if reply.documents:
        yield from _render_table(reply.documents, canvas, canvas.width)
        yield ""
    yield from render_list_notes(reply, canvas, next_page)


def render_list_notes(reply: DocList, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield which part of the documents is listed, or why there is none."""
    shown = len(reply.documents)
    if shown:
        first, last = reply.offset + 1, reply.offset + shown
        yield canvas.dim(f"{first:,} to {last:,} of {reply.total:,} documents")
        if reply.has_more and next_page:
            yield canvas.dim(f"more: {next_page}")
        return
    yield f"no documents after the first {reply.total}" if reply.total else "no documents"
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    if not reply.unmatched_filters and not reply.total:
        yield canvas.step("read some files", "kebab ingest FOLDER")


def _render_table(documents: list[DocSummary], canvas: Canvas, width: int) -> Iterator[str]:
    notes = ["" if doc.freshness == "fresh" else doc.freshness for doc in documents]
    count = max(len(_COUNT), *(len(f"{doc.chunk_count:,}") for doc in documents))
    room = width - _DATE - count - max(map(len, notes)) - 8
    longest = max(measure_width(clean(doc.doc_path)) for doc in documents)
    path = max(10, min(longest, room * 3 // 5))
    title = max(8, room - path)
    yield canvas.dim(f"{'document':<{path}}  {'title':<{title}}  {_COUNT:>{count}}  changed")
    for doc, note in zip(documents, notes, strict=True):
        columns = (
            canvas.location(pad(truncate_path(clean(doc.doc_path), path), path)),
            pad(truncate(clean(doc.title), title), title),
            canvas.dim(f"{doc.chunk_count:>{count},}"),
            canvas.dim(doc.modified_at[:_DATE]),
            canvas.warning(note),
        )
        yield "  ".join(columns).rstrip()


def render_document(reply: DocInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a document with its passages."""
    yield canvas.strong(clean(reply.document.title))
    file = canvas.link(clean(reply.file), reply.file) if reply.file else ""
    versions = [("parser", reply.parser_version), ("chunker", reply.chunker_version)]
    rows = [*_list_fields(reply.document), ("file", file), ("hash", reply.content_hash), *versions]
    yield from render_fields(rows, canvas)
    for warning in reply.warnings:
        yield from canvas.note(clean(warning))
    yield from render_links(reply.links, reply.backlinks, canvas)
    yield ""
    yield canvas.strong(pluralize(len(reply.chunks), "passage"))
    if canvas.width is None:
        for chunk in reply.chunks:
            size = f"{_join_headings(chunk)}  {pluralize(chunk.chars, 'character')}"
            note = "" if chunk.vector == "committed" else f"  ({chunk.vector})"
            yield f"  {chunk.chunk_id}  {format_location(chunk.citation)}  {size}{note}"
    elif reply.chunks:
        yield from _render_passages(reply.chunks, canvas, canvas.width)


def _render_passages(chunks: list[ChunkBrief], canvas: Canvas, width: int) -> Iterator[str]:
    """Yield one line per passage: the beginning of its id, its place, headings and size."""
    places = [_format_place(chunk.citation) for chunk in chunks]
    place = max(len("place"), *map(measure_width, places))
    notes = ["" if chunk.vector == "committed" else chunk.vector for chunk in chunks]
    size = len("characters")
    room = max(8, width - _SHORT_ID - place - size - max(map(len, notes)) - 10)
    heads = f"{'id':<{_SHORT_ID}}  {'place':<{place}}  {'headings':<{room}}  {'characters':>{size}}"
    yield "  " + canvas.dim(heads)
    for chunk, where, note in zip(chunks, places, notes, strict=True):
        columns = (
            chunk.chunk_id[:_SHORT_ID],
            canvas.location(pad(where, place)),
            pad(truncate(_join_headings(chunk), room), room),
            canvas.dim(f"{chunk.chars:>{size},}"),
            canvas.warning(note),
        )
        yield "  " + "  ".join(columns).rstrip()


def _format_place(citation: Citation) -> str:
    """Return the place of a passage without its path."""
    return format_line_range(citation).removeprefix(clean(citation.path)).lstrip(":#")


def render_chunk(reply: ChunkInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a passage with its text and its neighbours."""
    chunk = reply.chunk
    version = f" ({reply.embedding_version})" if reply.embedding_version else ""
    yield canvas.strong(_join_headings(chunk) or clean(reply.document.title))
    yield from render_fields(
        [
            ("chunk_id", chunk.chunk_id),
            ("place", canvas.location(format_location(chunk.citation))),
            ("ordinal", str(chunk.ordinal)),
            ("vector", chunk.vector + version),
            ("hash", reply.text_hash),
            ("previous", reply.previous_chunk_id or ""),
            ("next", reply.next_chunk_id or ""),
            *_list_fields(reply.document),
        ],
        canvas,
    )
    yield ""
    for line in clean_lines(reply.text).split("\n"):
        yield from canvas.wrap(line) or [""]


def _list_fields(document: DocSummary) -> list[tuple[str, str]]:
    return [
        ("doc_id", document.doc_id),
        ("path", clean(document.doc_path)),
        ("source", clean(document.source)),
        ("media", document.media),
        ("language", document.lang or "unknown"),
        ("tags", clean(", ".join(document.tags))),
        ("authors", clean(", ".join(document.authors))),
        ("aliases", clean(", ".join(document.aliases))),
        ("date", document.date or ""),
        ("size", format_bytes(document.size)),
        ("modified", document.modified_at),
        ("indexed", f"{document.indexed_at} ({document.freshness})"),
    ]


def _join_headings(chunk: ChunkBrief) -> str:
    return clean(" > ".join(chunk.heading_path))


def render_not_found(reply: NotFound, canvas: Canvas) -> Iterator[str]:
    """Yield the message and the names that the caller may mean."""
    yield clean(reply.error.message)
    if reply.error.candidates:
        title = "which of these?" if reply.error.kind == "ambiguous" else "did you mean?"
        yield canvas.dim(title)
        yield from (f"  {clean(name)}" for name in reply.error.candidates)


def render_removed_documents(reply: RemoveReport, canvas: Canvas) -> Iterator[str]:
    """Yield the removed documents, and whether the next ingest adds them again."""
    for doc in reply.removed:
        yield f"{canvas.location(clean(doc.doc_path))}  {canvas.dim(clean(doc.title))}"
    documents = pluralize(len(reply.removed), "document")
    yield f"{documents} and {pluralize(reply.chunks, 'passage')} taken out of the index"
    if reply.returns:
        yield from canvas.note("the files are still there: the next ingest reads them again")
        yield from canvas.hint("name them in a `.kebabignore` file to keep them out")


def render_reset_plan(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset would delete."""
    folder = canvas.location(clean(reply.data_dir))
    yield f"this deletes {format_bytes(reply.bytes_freed)} from {folder}:"
    yield from (f"  {clean(name)}" for name in reply.removed)
    yield "ask sessions and texts from standard input are deleted too"
    if reply.models_removed:
        yield "model weights are deleted too"
    yield "your own files stay as they are"


def render_reset(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset deleted and what it kept."""
    if not reply.removed:
        yield f"nothing to delete in {canvas.location(clean(reply.data_dir))}"
    yield from (f"{canvas.dim('deleted')}  {clean(name)}" for name in reply.removed)
    yield from (f"{canvas.dim('kept')}     {clean(name)}" for name in reply.kept)
    if reply.removed:
        yield f"{format_bytes(reply.bytes_freed)} freed"
