"""Finds copies among documents and passages."""

from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness
from kebab.app.filters import resolve_filters
from kebab.app.search import build_filters
from kebab.core.documents import CURSOR_SALT
from kebab.core.ports import LibraryReader
from kebab.core.progress import ProgressCallback
from kebab.core.queries import Filters, Query, StoredChunk
from kebab.search import duplicates, snippet
from kebab.search.citations import build_file_path, cite_chunk
from kebab.search.cursor import decode_cursor, encode_cursor
from kebab.search.duplicates import Copy, Group
from kebab.wire.related import DupesRequest, DuplicateGroup, DuplicateMember, Duplicates

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
        query = _build_cursor_query(request, filters)
        salt, revision = reader.get_value(CURSOR_SALT) or "", reader.get_revision()
        cursor = request.cursor
        first = 0 if cursor is None else decode_cursor(cursor, query, revision, salt)
        found = duplicates.find_duplicates(
            reader, request.threshold, filters, exact=request.exact, report=report
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


def _build_cursor_query(request: DupesRequest, filters: Filters) -> Query:
    """Return a query that identifies the request in its cursors."""
    text = f"dupes {'exact' if request.exact else request.threshold}"
    return Query(text=text, filters=filters)


def _to_group(library: LibraryReader, group: Group) -> DuplicateGroup:
    ends = {key for copy in group.copies for key in (copy.keys[0], copy.keys[-1])}
    chunks = {chunk.key: chunk for chunk in library.load_chunks(sorted(ends))}
    leading = chunks[group.copies[0].keys[0]]
    return DuplicateGroup(
        unit=group.unit,
        kind="exact" if group.exact else "near",
        similarity=group.similarity,
        snippet=snippet.cut_snippet(leading.text, {}, _SNIPPET_CHARS).text,
        members=[
            _to_member(copy, chunks[copy.keys[0]], chunks[copy.keys[-1]], group)
            for copy in group.copies
        ],
    )


def _to_member(copy: Copy, first: StoredChunk, last: StoredChunk, group: Group) -> DuplicateMember:
    whole = group.unit == "document"
    return DuplicateMember(
        similarity=copy.similarity,
        exact=copy.exact,
        doc_id=first.doc_id,
        doc_path=first.path,
        file=build_file_path(first),
        source=first.source,
        title=first.title,
        chunk_id=None if whole else first.chunk_id,
        heading_path=[] if whole else list(first.heading_path),
        citation=cite_chunk(first, last=last.end_line),
        freshness=check_freshness(first),
    )
