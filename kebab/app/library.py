"""Lists, inspects and removes documents, and finds them by id, start of an id, or path."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.conversions import build_file_path, check_freshness, cite_lines
from kebab.app.search import build_filters
from kebab.app.timestamps import format_timestamp
from kebab.core.chunks import build_embed_text
from kebab.core.documents import STDIN, AmbiguousName, DocumentDetail, StoredDocument
from kebab.core.ids import ChunkId, DocId
from kebab.core.queries import StoredChunk
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    DocSummary,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    LookupFault,
    NotFound,
    RemoveReport,
    RmRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.store.sqlite.catalogue import Catalogue

_NANO = 1_000_000_000


def list_documents(context: AppContext, request: ListRequest) -> DocList:
    """Return a part of the list of documents, by source and path.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    with context.open_reader() as reader:
        page = context.build_catalogue(reader).documents(
            filters, limit=-1 if request.limit is None else request.limit, offset=request.offset
        )
        revision = reader.revision()
    return DocList(
        documents=[to_doc_summary(one) for one in page.documents],
        total=page.total,
        offset=request.offset,
        has_more=request.offset + len(page.documents) < page.total,
        corpus_revision=revision,
    )


def inspect_doc(context: AppContext, request: InspectDocRequest) -> DocInspection | NotFound:
    """Return all that is known of a document."""
    with open_catalogue(context) as catalogue:
        found = find_document_id(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.document(found)
        if detail is None:
            return build_not_found(request.name, "document")
    return _inspection(detail)


def inspect_chunk(context: AppContext, request: InspectChunkRequest) -> ChunkInspection | NotFound:
    """Return all that is known of a passage."""
    with open_catalogue(context) as catalogue:
        found = find_chunk_id(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.chunk(found)
        document = catalogue.summary(detail.chunk.doc_id) if detail else None
    if detail is None or document is None:
        return build_not_found(request.name, "passage")
    chunk = detail.chunk
    return ChunkInspection(
        chunk=_brief(chunk),
        document=to_doc_summary(document),
        text=chunk.text,
        embed_text=build_embed_text(chunk.title, chunk.heading_path, chunk.text),
        text_hash=detail.text_hash,
        embedding_version=chunk.embedding_version,
        previous_chunk_id=detail.previous,
        next_chunk_id=detail.following,
    )


def remove_documents(context: AppContext, request: RmRequest) -> RemoveReport | NotFound:
    """Take documents out of the index; all of them, or none when one is not found."""
    context.refuse_when_read_only("rm")
    with open_catalogue(context) as catalogue:
        found = [find_document_id(catalogue, name) for name in request.names]
        if missing := next((one for one in found if isinstance(one, NotFound)), None):
            return missing
        ids = [one for one in dict.fromkeys(found) if not isinstance(one, NotFound)]
        leaving = [one for one in map(catalogue.summary, ids) if one is not None]
    with context.open_writer("rm") as library:
        chunks = library.remove(ids)
    for one in leaving:
        if one.source == STDIN:
            Path(one.root, one.path).unlink(missing_ok=True)
    gone = [to_doc_summary(one) for one in leaving]
    returns = any(one.freshness != "gone" for one in gone)
    return RemoveReport(removed=gone, chunks=chunks, returns=returns)


def to_doc_summary(document: StoredDocument) -> DocSummary:
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
        modified_at=format_timestamp(document.mtime_ns / _NANO),
        indexed_at=format_timestamp(document.indexed_at),
        freshness=check_freshness(document.root, document.path, document.size, document.mtime_ns),
    )


def _inspection(detail: DocumentDetail) -> DocInspection:
    found = detail.summary
    return DocInspection(
        document=to_doc_summary(found),
        file=build_file_path(found.source, found.root, found.path),
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
        citation=cite_lines(chunk.path, chunk.start_line, chunk.end_line),
        chars=len(chunk.text),
        vector=chunk.vector_state,
    )


@contextmanager
def open_catalogue(context: AppContext) -> "Iterator[Catalogue]":
    """Yield what looks things up in one snapshot."""
    with context.open_reader() as reader:
        yield context.build_catalogue(reader)


def find_document_id(catalogue: "Catalogue", name: str) -> DocId | NotFound:
    """Return the document meant by an id, a path within a source, or a path from here."""
    name = escape_undecodable(name)
    found = catalogue.resolve_document(name) or catalogue.resolve_document(_absolute(name))
    if isinstance(found, str):
        return found
    return build_not_found(name, "document", found)


def find_chunk_id(catalogue: "Catalogue", name: str) -> ChunkId | NotFound:
    """Return the passage meant by an id."""
    name = escape_undecodable(name)
    found = catalogue.resolve_chunk(name)
    if isinstance(found, str):
        return found
    return build_not_found(name, "passage", found)


def build_not_found(name: str, what: str, ambiguous: AmbiguousName | None = None) -> NotFound:
    """Return that nothing, or more than one thing, goes by this name."""
    candidates = list(ambiguous.candidates) if ambiguous else []
    message = f"several {what}s go by this name" if ambiguous else f"no such {what}: {name}"
    fault = LookupFault(
        kind="ambiguous" if ambiguous else "not_found",
        message=message,
        retryable=False,
        candidates=candidates,
    )
    return NotFound(name=name, found=False, error=fault)


def _absolute(name: str) -> str:
    if "\0" in name:
        return name
    return os.path.realpath(os.path.expanduser(name))  # noqa: PTH111 - a name, perhaps no path
