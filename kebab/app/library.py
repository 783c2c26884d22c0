"""Lists, inspects and removes documents, and finds them by id, prefix of an id, or path."""

from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.conversions import to_doc_summary
from kebab.app.document_names import make_absolute
from kebab.app.filters import explain_filters, resolve_filters
from kebab.app.links import describe_backlinks, describe_links
from kebab.app.references import ReferenceFinder
from kebab.app.search import build_filters
from kebab.app.suggested_commands import suggest_filters
from kebab.core.chunks import build_embed_text
from kebab.core.documents import (
    STDIN,
    AmbiguousName,
    ChunkDetail,
    DocumentDetail,
    DocumentOrder,
    StoredDocument,
)
from kebab.core.ids import ChunkId, DocId
from kebab.core.queries import StoredChunk
from kebab.search.citations import build_file_path, cite_chunk
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocList,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    LookupFault,
    NotFound,
    RemoveReport,
    RmRequest,
)

if TYPE_CHECKING:
    from kebab.store.sqlite.catalogue import Catalogue


def list_documents(context: AppContext, request: ListRequest) -> DocList:
    """Return a part of the list of documents.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        listing = context.build_catalogue(reader).list_documents(
            filters,
            limit=-1 if request.limit is None else request.limit,
            offset=request.offset,
            order=DocumentOrder(request.sort, reverse=request.reverse),
        )
        revision = reader.get_revision()
        missed = filters.is_active and not listing.total
        unmatched = explain_filters(context, reader, filters, request) if missed else []
    return DocList(
        documents=[to_doc_summary(document) for document in listing.documents],
        total=listing.total,
        offset=request.offset,
        has_more=request.offset + len(listing.documents) < listing.total,
        corpus_revision=revision,
        unmatched_filters=unmatched,
        hint=suggest_filters(request, unmatched),
    )


def inspect_doc(context: AppContext, request: InspectDocRequest) -> DocInspection | NotFound:
    """Return everything that the library holds about a document."""
    with context.open_catalogue() as catalogue:
        found = find_document(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        links = describe_links(catalogue, found.summary.doc_id)
        backlinks = describe_backlinks(catalogue, found.summary.doc_id)
    return DocInspection(
        document=to_doc_summary(found.summary),
        file=build_file_path(found.summary),
        content_hash=found.content_hash,
        parser_version=found.parser_version,
        chunker_version=found.chunker_version,
        warnings=list(found.summary.warnings),
        chunks=[_to_brief(chunk) for chunk in found.chunks],
        links=links,
        backlinks=backlinks,
    )


def inspect_chunk(context: AppContext, request: InspectChunkRequest) -> ChunkInspection | NotFound:
    """Return everything that the library holds about a passage."""
    with context.open_catalogue() as catalogue:
        found = find_chunk(catalogue, request.name)
    if isinstance(found, NotFound):
        return found
    detail, document = found
    chunk = detail.chunk
    return ChunkInspection(
        chunk=_to_brief(chunk),
        document=to_doc_summary(document),
        text=chunk.text,
        embed_text=build_embed_text(chunk.title, chunk.heading_path, chunk.text, chunk.context),
        text_hash=detail.text_hash,
        embedding_version=chunk.embedding_version,
        previous_chunk_id=detail.previous,
        next_chunk_id=detail.following,
    )


def remove_documents(context: AppContext, request: RmRequest) -> RemoveReport | NotFound:
    """Remove documents from the index; when one is not found, none is removed."""
    context.refuse_when_read_only("rm")
    with context.open_catalogue() as catalogue:
        found = [find_document_id(catalogue, name) for name in request.names]
        if missing := next((reply for reply in found if isinstance(reply, NotFound)), None):
            return missing
        ids = [doc for doc in dict.fromkeys(found) if not isinstance(doc, NotFound)]
        documents = [row for row in map(catalogue.load_summary, ids) if row is not None]
    with context.open_writer("rm") as library:
        chunks = library.remove_documents(ids)
    for document in documents:
        if document.source == STDIN:
            Path(document.root, document.path).unlink(missing_ok=True)
    removed = [to_doc_summary(document) for document in documents]
    returns = any(document.freshness != "gone" for document in removed)
    return RemoveReport(removed=removed, chunks=chunks, returns=returns)


def _to_brief(chunk: StoredChunk) -> ChunkBrief:
    return ChunkBrief(
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        heading_path=list(chunk.heading_path),
        citation=cite_chunk(chunk),
        chars=len(chunk.text),
        vector=chunk.vector_state,
    )


def find_document(catalogue: "Catalogue", name: str) -> DocumentDetail | NotFound:
    """Return the document that a reference names; lines in the reference are ignored."""
    finder = ReferenceFinder(catalogue, chunks=False)
    target = finder.find(name)
    if isinstance(target, NotFound):
        return target
    found = catalogue.load_document(target.doc_id) if target.doc_id else None
    return found or finder.suggest(name)


def find_document_id(catalogue: "Catalogue", name: str) -> DocId | NotFound:
    """Return the document of an id, the start of an id, or a whole path; similar names count not.

    This is the lookup of commands that delete.
    """
    name = escape_undecodable(name)
    found = catalogue.resolve_document(name) or catalogue.resolve_document(make_absolute(name))
    if isinstance(found, str):
        return found
    if found:
        return build_not_found(name, "document", found)
    return ReferenceFinder(catalogue, chunks=False).suggest(name)


def find_chunk(catalogue: "Catalogue", name: str) -> tuple[ChunkDetail, StoredDocument] | NotFound:
    """Return the passage of an id, and its document."""
    found = find_chunk_id(catalogue, name)
    if isinstance(found, NotFound):
        return found
    detail = catalogue.load_chunk(found)
    document = catalogue.load_summary(detail.chunk.doc_id) if detail else None
    return (detail, document) if detail and document else build_not_found(name, "passage")


def find_chunk_id(catalogue: "Catalogue", name: str) -> ChunkId | NotFound:
    """Return the id of the passage whose id begins with a name."""
    name = escape_undecodable(name)
    found = catalogue.resolve_chunk(name)
    return found if isinstance(found, str) else build_not_found(name, "passage", found)


def build_not_found(name: str, what: str, ambiguous: AmbiguousName | None = None) -> NotFound:
    """Return the reply that no object, or more than one, has this name."""
    candidates = list(ambiguous.candidates) if ambiguous else []
    message = f"several {what}s go by this name" if ambiguous else f"no such {what}: {name}"
    fault = LookupFault(
        kind="ambiguous" if ambiguous else "not_found",
        message=message,
        retryable=False,
        candidates=candidates,
    )
    return NotFound(name=name, found=False, error=fault)
