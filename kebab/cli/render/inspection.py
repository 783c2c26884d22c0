"""All that is known of a document or a passage."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean, clean_lines
from kebab.cli.render.place import file_uri, spot
from kebab.cli.render.sheet import labelled, plural, sized
from kebab.wire.library import ChunkBrief, ChunkInspection, DocInspection, DocSummary


def draw_document(reply: DocInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a document with its passages."""
    yield canvas.strong(clean(reply.document.title))
    file = canvas.link(clean(reply.file), file_uri(reply.file)) if reply.file else ""
    versions = [("parser", reply.parser_version), ("chunker", reply.chunker_version)]
    rows = [*_summary(reply.document), ("file", file), ("hash", reply.content_hash), *versions]
    yield from labelled(rows, canvas)
    yield from (f"{canvas.odd('note:')} {clean(one)}" for one in reply.warnings)
    yield ""
    yield canvas.strong(plural(len(reply.chunks), "passage"))
    for chunk in reply.chunks:
        yield _brief(chunk, canvas)


def draw_chunk(reply: ChunkInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a passage with its text and its neighbours."""
    yield canvas.strong(_headings(reply.chunk) or clean(reply.document.title))
    yield from labelled(
        [
            ("chunk_id", reply.chunk.chunk_id),
            ("place", canvas.place(spot(reply.chunk.citation))),
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
        ("size", sized(document.size)),
        ("modified", document.modified_at),
        ("indexed", f"{document.indexed_at} ({document.freshness})"),
    ]


def _brief(chunk: ChunkBrief, canvas: Canvas) -> str:
    place = canvas.place(spot(chunk.citation))
    vector = "" if chunk.vector == "committed" else canvas.odd(f"  ({chunk.vector})")
    size = plural(chunk.chars, "character")
    tail = canvas.faint(f"{_headings(chunk)}  {size}")
    return f"  {chunk.chunk_id}  {place}  {tail}{vector}"


def _vector(reply: ChunkInspection) -> str:
    version = f" ({reply.embedding_version})" if reply.embedding_version else ""
    return reply.chunk.vector + version


def _headings(chunk: ChunkBrief) -> str:
    return clean(" > ".join(chunk.heading_path))
