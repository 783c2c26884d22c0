"""Renders documents, passages, lines and removals."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_bytes, pluralize, render_fields
from kebab.cli.render.hits import build_file_uri, format_location
from kebab.cli.render.width import clean, clean_lines, measure_width, pad, truncate, truncate_left
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.health import ResetReport
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    DocSummary,
    FetchResult,
    NotFound,
    RemoveReport,
)

_DATE = len("2025-01-31")


def render_document_list(reply: DocList, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield one line per document; `next_page` is the command for the next page."""
    if canvas.width is None:
        yield from map(_fields, reply.documents)
        return
    if not reply.documents:
        yield "no documents"
        yield canvas.dim("read some files: kebab ingest FOLDER")
        return
    yield from _table(reply.documents, canvas, canvas.width)
    shown = len(reply.documents)
    yield ""
    yield canvas.dim(f"{reply.offset + 1} to {reply.offset + shown} of {reply.total} documents")
    if reply.has_more and next_page:
        yield canvas.dim(f"more: {next_page}")


def _fields(one: DocSummary) -> str:
    fields = (one.doc_id, one.source, one.doc_path, one.title, str(one.chunk_count))
    return "\t".join(map(clean, (*fields, one.modified_at, one.freshness)))


def _table(documents: list[DocSummary], canvas: Canvas, width: int) -> Iterator[str]:
    flag = max(len(_flag(one)) for one in documents)
    count = max(len(str(one.chunk_count)) for one in documents)
    room = width - _DATE - count - flag - 8
    longest = max(measure_width(clean(one.doc_path)) for one in documents)
    path = max(10, min(longest, room * 3 // 5))
    title = max(8, room - path)
    for one in documents:
        yield "  ".join(
            (
                canvas.location(pad(truncate_left(clean(one.doc_path), path), path)),
                pad(truncate(clean(one.title), title), title),
                canvas.dim(f"{one.chunk_count:>{count}}"),
                canvas.dim(one.modified_at[:_DATE]),
                canvas.warning(_flag(one)),
            )
        ).rstrip()


def _flag(one: DocSummary) -> str:
    return "" if one.freshness == "fresh" else one.freshness


def render_document(reply: DocInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a document with its passages."""
    yield canvas.strong(clean(reply.document.title))
    file = canvas.link(clean(reply.file), build_file_uri(reply.file)) if reply.file else ""
    versions = [("parser", reply.parser_version), ("chunker", reply.chunker_version)]
    rows = [*_summary(reply.document), ("file", file), ("hash", reply.content_hash), *versions]
    yield from render_fields(rows, canvas)
    yield from (f"{canvas.warning('note:')} {clean(one)}" for one in reply.warnings)
    yield ""
    yield canvas.strong(pluralize(len(reply.chunks), "passage"))
    for chunk in reply.chunks:
        yield _brief(chunk, canvas)


def render_chunk(reply: ChunkInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a passage with its text and its neighbours."""
    yield canvas.strong(_headings(reply.chunk) or clean(reply.document.title))
    yield from render_fields(
        [
            ("chunk_id", reply.chunk.chunk_id),
            ("place", canvas.location(format_location(reply.chunk.citation))),
            ("ordinal", str(reply.chunk.ordinal)),
            ("vector", _vector(reply)),
            ("hash", reply.text_hash),
            ("previous", reply.previous_chunk_id or ""),
            ("next", reply.next_chunk_id or ""),
            *_summary(reply.document),
        ],
        canvas,
    )
    yield ""
    yield clean_lines(reply.text)


def _summary(document: DocSummary) -> list[tuple[str, str]]:
    return [
        ("doc_id", document.doc_id),
        ("path", clean(document.doc_path)),
        ("source", clean(document.source)),
        ("media", document.media),
        ("language", document.lang or "unknown"),
        ("tags", clean(", ".join(document.tags))),
        ("size", format_bytes(document.size)),
        ("modified", document.modified_at),
        ("indexed", f"{document.indexed_at} ({document.freshness})"),
    ]


def _brief(chunk: ChunkBrief, canvas: Canvas) -> str:
    place = canvas.location(format_location(chunk.citation))
    vector = "" if chunk.vector == "committed" else canvas.warning(f"  ({chunk.vector})")
    size = pluralize(chunk.chars, "character")
    tail = canvas.dim(f"{_headings(chunk)}  {size}")
    return f"  {chunk.chunk_id}  {place}  {tail}{vector}"


def _vector(reply: ChunkInspection) -> str:
    version = f" ({reply.embedding_version})" if reply.embedding_version else ""
    return reply.chunk.vector + version


def _headings(chunk: ChunkBrief) -> str:
    return clean(" > ".join(chunk.heading_path))


def render_lines(reply: FetchResult, canvas: Canvas) -> Iterator[str]:
    """Yield the lines."""
    text = reply.text.removesuffix("\n")
    if not canvas.is_terminal:
        yield text
        return
    yield _header(reply, canvas)
    width = len(str(reply.end_line))
    asked = _asked(reply)
    for number, line in enumerate(clean_lines(text).split("\n"), reply.start_line):
        margin = f"{number:>{width}} "
        yield canvas.dim(margin) + (line if number in asked else canvas.dim(line))
    if reply.truncated:
        yield canvas.dim("cut off by --max-chars")


def _header(reply: FetchResult, canvas: Canvas) -> str:
    lines = f"lines {reply.start_line} to {reply.end_line} of {reply.line_count}"
    fresh = {"fresh": "", "changed": "  changed since", "gone": "  file is gone, indexed text"}
    note = canvas.warning(fresh[reply.freshness])
    return f"{canvas.location(clean(reply.doc_path))}  {canvas.dim(lines)}{note}"


def _asked(reply: FetchResult) -> range:
    """Return the lines that were asked for; the others are context."""
    match reply.citation:
        case LineCitation(line=span):
            return range(span.start, span.end + 1)
        case CodeCitation(code=code):
            return range(code.start, code.end + 1)
        case _:
            return range(reply.start_line, reply.end_line + 1)


def render_not_found(reply: NotFound, canvas: Canvas) -> Iterator[str]:
    """Yield why there is no answer, and which names would have one."""
    yield clean(reply.error.message)
    if reply.error.candidates:
        title = "which of these?" if reply.error.kind == "ambiguous" else "did you mean?"
        yield canvas.dim(title)
        yield from (f"  {clean(one)}" for one in reply.error.candidates)


def render_removed_documents(reply: RemoveReport, canvas: Canvas) -> Iterator[str]:
    """Yield the documents that went, and whether they come back."""
    for one in reply.removed:
        yield f"{canvas.location(clean(one.doc_path))}  {canvas.dim(clean(one.title))}"
    documents = pluralize(len(reply.removed), "document")
    yield f"{documents} and {pluralize(reply.chunks, 'passage')} taken out of the index"
    if reply.returns:
        yield f"{canvas.warning('note:')} the files are still there: the next ingest reads them again"
        yield f"{canvas.success('hint:')} name them in a `.kebabignore` file to keep them out"


def render_reset_plan(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset would delete."""
    yield f"this deletes {format_bytes(reply.bytes_freed)} from {canvas.location(clean(reply.data_dir))}:"
    yield from (f"  {clean(one)}" for one in reply.removed)
    yield "sessions of questions and texts from standard input lie there and go too"
    if reply.models_removed:
        yield "model weights are deleted too"
    yield "your own files stay as they are"


def render_reset(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset deleted and what it left."""
    if not reply.removed:
        yield f"nothing to delete in {canvas.location(clean(reply.data_dir))}"
    yield from (f"{canvas.dim('deleted')}  {clean(one)}" for one in reply.removed)
    yield from (f"{canvas.dim('kept')}     {clean(one)}" for one in reply.kept)
    if reply.removed:
        yield f"{format_bytes(reply.bytes_freed)} freed"
