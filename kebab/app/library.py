"""The library as callers look at it: lists, inspections, and taking documents out."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from kebab.app.compose import Workshop
from kebab.app.legible import require_legible
from kebab.app.lookup import chunk_id, document_id, not_found, opened
from kebab.app.moment import stamp
from kebab.app.place import file_of, freshness, line_citation
from kebab.app.requests import ListOptions
from kebab.core.chunk import embed_text
from kebab.core.hit import StoredChunk
from kebab.core.library import DocumentDetail, StoredDocument
from kebab.core.stored import STDIN
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    DocSummary,
    NotFound,
    RemoveReport,
)

_NANO = 1_000_000_000


def documents(shop: Workshop, options: ListOptions) -> DocList:
    """Return a part of the list of documents, by source and path.

    Raises:
        InvalidInput: A filter is not valid UTF-8.
        NotIndexed: There is no index.
    """
    require_legible(asdict(options.filters))
    with shop.reader() as reader:
        page = shop.catalogue(reader).documents(
            options.filters, limit=options.limit, offset=options.offset
        )
        revision = reader.revision()
    return DocList(
        documents=[summary(one) for one in page.documents],
        total=page.total,
        offset=options.offset,
        has_more=options.offset + len(page.documents) < page.total,
        corpus_revision=revision,
    )


def inspect_doc(shop: Workshop, name: str) -> DocInspection | NotFound:
    """Return all that is known of a document."""
    with opened(shop) as catalogue:
        found = document_id(catalogue, name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.document(found)
        if detail is None:
            return not_found(name, "document")
    return _inspection(detail)


def inspect_chunk(shop: Workshop, name: str) -> ChunkInspection | NotFound:
    """Return all that is known of a passage."""
    with opened(shop) as catalogue:
        found = chunk_id(catalogue, name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.chunk(found)
        document = catalogue.summary(detail.chunk.doc_id) if detail else None
    if detail is None or document is None:
        return not_found(name, "passage")
    chunk = detail.chunk
    return ChunkInspection(
        chunk=_brief(chunk),
        document=summary(document),
        text=chunk.text,
        embed_text=embed_text(chunk.title, chunk.heading_path, chunk.text),
        text_hash=detail.text_hash,
        embedding_version=chunk.embedding_version,
        previous_chunk_id=detail.previous,
        next_chunk_id=detail.following,
    )


def remove(shop: Workshop, names: Sequence[str]) -> RemoveReport | NotFound:
    """Take documents out of the index; all of them, or none when one is not found."""
    shop.refuse_when_read_only("rm")
    with opened(shop) as catalogue:
        found = [document_id(catalogue, name) for name in names]
        if missing := next((one for one in found if isinstance(one, NotFound)), None):
            return missing
        ids = [one for one in dict.fromkeys(found) if not isinstance(one, NotFound)]
        leaving = [one for one in map(catalogue.summary, ids) if one is not None]
    with shop.writer("rm") as library:
        chunks = library.remove(ids)
    for one in leaving:
        if one.source == STDIN:
            Path(one.root, one.path).unlink(missing_ok=True)
    gone = [summary(one) for one in leaving]
    returns = any(one.freshness != "gone" for one in gone)
    return RemoveReport(removed=gone, chunks=chunks, returns=returns)


def summary(document: StoredDocument) -> DocSummary:
    """Return a document as it stands in a list, its file compared with the disk."""
    return DocSummary(
        doc_id=document.doc_id,
        doc_path=document.path,
        source=document.source,
        title=document.title,
        media=document.media,
        lang=document.lang,
        tags=list(document.tags),
        size=document.size,
        chunk_count=document.chunks,
        modified_at=stamp(document.mtime_ns / _NANO),
        indexed_at=stamp(document.indexed_at),
        freshness=freshness(document.root, document.path, document.size, document.mtime_ns),
    )


def _inspection(detail: DocumentDetail) -> DocInspection:
    found = detail.summary
    return DocInspection(
        document=summary(found),
        file=file_of(found.source, found.root, found.path),
        content_hash=detail.content_hash,
        parser_version=detail.parser_version,
        chunker_version=detail.chunker_version,
        warnings=list(found.warnings),
        chunks=[_brief(chunk) for chunk in detail.chunks],
    )


def _brief(chunk: StoredChunk) -> ChunkBrief:
    return ChunkBrief(
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        heading_path=list(chunk.heading_path),
        citation=line_citation(chunk.path, chunk.start_line, chunk.end_line),
        chars=len(chunk.text),
        vector=chunk.vector_state,
    )
