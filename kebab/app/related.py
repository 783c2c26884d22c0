"""Finds similar documents and copies, and ranks lines by a query."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.coverage import explain_degraded, find_indexing
from kebab.app.filters import (
    build_filters,
    describe_backlinks,
    describe_links,
    explain_filters,
    resolve_filters,
)
from kebab.app.library import to_doc_summary
from kebab.app.references import ReferenceFinder
from kebab.core.chunks import CosineScale
from kebab.core.documents import CURSOR_SALT, EMBEDDING_VERSION, check_freshness
from kebab.core.ports import LibraryReader
from kebab.core.progress import ProgressCallback
from kebab.core.queries import Query, StoredChunk
from kebab.search import duplicates, snippet
from kebab.search.citations import build_file_path, cite_chunk
from kebab.search.duplicates import Group
from kebab.search.engine import decode_cursor, encode_cursor
from kebab.search.related import RelatedDocument, RelatedFinder, VectorSpace
from kebab.wire.record import NotFound, fill_record, format_timestamp
from kebab.wire.related import (
    DupesRequest,
    DuplicateGroup,
    DuplicateMember,
    Duplicates,
    MatchedPassage,
    PassagePair,
    RelatedDoc,
    RelatedDocs,
    RelatedRequest,
)

if TYPE_CHECKING:
    from kebab.wire.search import DegradedChannel


def find_related(context: AppContext, request: RelatedRequest) -> RelatedDocs | NotFound:
    """Return the nearest documents.

    Stored vectors are compared with each other, so no model is loaded and the model that the
    settings name does not matter.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        catalogue = context.build_catalogue(reader)
        document = ReferenceFinder(catalogue, chunks=False).find_document(request.name)
        if isinstance(document, NotFound):
            return document
        nearest: list[RelatedDocument] = []
        degraded: tuple[DegradedChannel, ...] = ()
        if document.chunks:
            space: VectorSpace | None = None
            version = reader.get_value(EMBEDDING_VERSION)
            model = context.embedders.find_version(version) if version else None
            if version is not None:
                space = VectorSpace(
                    vectors=context.open_vector_index(version).load_index,
                    scale=model.cosine_scale if model else CosineScale(0.0, 1.0),
                    load_axes=model.load_language_axes if model else lambda: None,
                )
            finder = RelatedFinder(reader, document.chunks, space)
            nearest, degraded = finder.find(request.limit, filters), finder.degraded
        doc_id = document.summary.doc_id
        links, backlinks = describe_links(catalogue, doc_id), describe_backlinks(catalogue, doc_id)
        missed = filters.is_active and not nearest
        unmatched = explain_filters(context, reader, filters, request) if missed else []
        revision = reader.get_revision()
    return RelatedDocs(
        document=to_doc_summary(document.summary),
        related=[_to_related_doc(rank, found) for rank, found in enumerate(nearest, start=1)],
        degraded=explain_degraded(degraded, find_indexing(context)),
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
        unmatched_filters=unmatched,
        links=links,
        backlinks=backlinks,
    )


def _to_related_doc(rank: int, found: RelatedDocument) -> RelatedDoc:
    chunk = found.other
    return fill_record(
        RelatedDoc,
        found,
        chunk,
        rank=rank,
        doc_path=chunk.path,
        file=build_file_path(chunk),
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
        pair=PassagePair(
            asked=_to_matched_passage(found.own),
            found=_to_matched_passage(chunk),
            snippet=found.snippet.text,
            highlights=list(found.snippet.highlights),
            cosine=found.cosine,
        ),
        terms=list(found.shared_words),
    )


def _to_matched_passage(chunk: "StoredChunk") -> MatchedPassage:
    return fill_record(MatchedPassage, chunk, citation=cite_chunk(chunk))


_SNIPPET_CHARS = 160


def find_duplicates(
    context: AppContext, request: DupesRequest, report: ProgressCallback
) -> Duplicates:
    """Return a page of groups of copies.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        InvalidCursor: The cursor is not from kebab, or belongs to another request.
        StaleCursor: The index has changed since the cursor was issued.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        # The query identifies the request in its cursors.
        text = f"dupes {'exact' if request.exact else request.threshold}"
        query = Query(text=text, filters=filters)
        salt, revision = reader.get_value(CURSOR_SALT) or "", reader.get_revision()
        cursor = request.cursor
        first = 0 if cursor is None else decode_cursor(cursor, query, revision, salt)
        found = duplicates.find_duplicates(
            reader,
            request.threshold,
            filters,
            exact=request.exact,
            report=report,
        )
        end = first + request.limit
        shown = [_to_group(reader, group) for group in found.groups[first:end]]
    more = end < len(found.groups)
    return Duplicates(
        threshold=1.0 if request.exact else request.threshold,
        exact=request.exact,
        groups=shown,
        total=len(found.groups),
        has_more=more,
        next_cursor=encode_cursor(query, end, revision, salt) if more else None,
        compared=found.compared,
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
    )


def _to_group(library: LibraryReader, group: Group) -> DuplicateGroup:
    ends = {key for text in group.texts for key in (text.keys[0], text.keys[-1])}
    chunks = {chunk.key: chunk for chunk in library.load_chunks(sorted(ends))}
    members = [
        _to_member(group, number, chunks[text.keys[0]], chunks[text.keys[-1]])
        for number, text in enumerate(group.texts)
    ]
    return DuplicateGroup(
        unit=group.items.unit,
        kind="exact" if group.exact else "near",
        similarity=group.similarity,
        snippet=snippet.cut_snippet(chunks[group.texts[0].keys[0]].text, {}, _SNIPPET_CHARS).text,
        members=members,
    )


def _to_member(group: Group, number: int, first: StoredChunk, last: StoredChunk) -> DuplicateMember:
    whole = group.items.unit == "document"
    return fill_record(
        DuplicateMember,
        first,
        similarity=group.cluster.similarity[number],
        exact=group.is_equal(number),
        doc_path=first.path,
        file=build_file_path(first),
        chunk_id=None if whole else first.chunk_id,
        heading_path=[] if whole else list(first.heading_path),
        citation=cite_chunk(first, last=last.end_line),
        freshness=check_freshness(first),
    )
