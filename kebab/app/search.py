"""Converts a search request to a query, runs it, and converts the page to the response."""

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.conversions import parse_time, to_search_response
from kebab.app.coverage import QUICK_S, THOROUGH_S, find_indexing, measure_coverage
from kebab.app.references import is_path, make_absolute
from kebab.core.documents import CURSOR_SALT, EMBEDDING_VERSION
from kebab.core.queries import (
    FILTERS,
    Confidence,
    Detail,
    Filters,
    Mode,
    Page,
    Query,
    Sort,
    StoredChunk,
)
from kebab.errors.catalog import InvalidInput, TooLarge
from kebab.search.engine import SearchEngine, decode_cursor, encode_cursor
from kebab.search.query_parser import parse_query
from kebab.wire.coverage import name_omitted
from kebab.wire.record import Reply, Request
from kebab.wire.search import (
    MAX_QUERY_BYTES,
    DegradedChannel,
    FilteredRequest,
    SearchRequest,
    SearchResponse,
    UnmatchedFilter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import SqliteReader

_MOST_HITS = 2**31


def require_utf8(request: Request[Reply], base: type[Request[Reply]] | None = None) -> None:
    """Refuse a request with bytes that are not UTF-8, because no stored text has any.

    With `base`, a base class of the request, only its fields are checked.

    Raises:
        InvalidInput: A field has such bytes.
    """
    for name in (base or type(request)).__struct_fields__:
        value = getattr(request, name)
        if value is None or isinstance(value, int | float):
            continue
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as fault:
            raise InvalidInput(field=f"$.{name}", cause="not valid UTF-8") from fault


def build_query(request: SearchRequest, now: float) -> Query:
    """Convert a request to a query.

    Raises:
        InvalidInput: A date cannot be read, or a text is not valid UTF-8.
        TooLarge: The query has more than 1 MB.
    """
    require_utf8(request)
    first, *more = _list_queries(request)
    if (size := sum(len(text.encode()) for text in (first, *more))) > MAX_QUERY_BYTES:
        raise TooLarge(what="query", size=size, limit=MAX_QUERY_BYTES)
    return Query(
        text=first,
        more=tuple(more),
        mode=Mode(request.mode),
        limit=request.limit,
        filters=build_filters(request, now),
        per_doc=request.per_doc,
        min_confidence=Confidence(request.min_confidence),
        detail=Detail(request.detail),
        snippet_chars=request.snippet_chars,
        max_tokens=request.max_tokens,
        rerank=request.rerank,
        sort=Sort(request.sort),
        trace=request.trace,
    )


def _list_queries(request: SearchRequest) -> list[str]:
    """Return the distinct queries of a request in order; `query` is the first, if there is one."""
    for index, text in enumerate(request.queries):
        if not text.strip():
            raise InvalidInput(field=f"$.queries[{index}]", cause="it is empty")
    has_first = bool(request.query.strip() or not request.queries)
    return list(dict.fromkeys([*([request.query] if has_first else []), *request.queries]))


def build_filters(request: FilteredRequest[Reply], now: float) -> Filters:
    """Convert the filters of a request.

    Raises:
        InvalidInput: A date cannot be read, or a filter is not valid UTF-8.
    """
    require_utf8(request, FilteredRequest)
    values: dict[str, Any] = {}
    for name in FILTERS:
        value = getattr(request, name)
        values[name] = tuple(value) if isinstance(value, list) else value
    for name in ("since", "until"):
        if values[name] is not None:
            values[name] = parse_time(values[name], f"$.{name}", now)
    if request.folder is not None:
        values["folder"] = resolve_folder(request.folder)
    return Filters(**values)


def resolve_folder(folder: str) -> str:
    """Return the absolute path of a folder without links, as sources are named.

    Raises:
        InvalidInput: It is no path.
    """
    if not folder or not is_path(folder):
        raise InvalidInput(field="$.folder", cause="not a path")
    return make_absolute(folder)


def search(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page of hits from the index as it is.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, a date cannot be read, or a page and a
            cursor are given.
        InvalidCursor: The cursor is not from kebab, or belongs to another query.
        StaleCursor: The index has changed since the cursor was issued.
        NotIndexed: There is no index.
        EmbeddingUnavailable: The mode needs vectors, and there are none.
        EmbeddingMismatch: The mode needs vectors, and the settings name another model.
    """
    query = build_query(request, context.clock.now())
    if request.page is not None:
        if request.cursor is not None:
            raise InvalidInput(field="$.page", cause="it excludes `cursor`")
        query = replace(query, offset=min((request.page - 1) * query.page_size, _MOST_HITS))
    find_candidates(context, query)
    with context.open_reader() as reader:
        query = replace(query, filters=resolve_request_filters(context, reader, query.filters))
        salt = reader.get_value(CURSOR_SALT) or ""
        if request.cursor is not None:
            offset = decode_cursor(request.cursor, query, reader.get_revision(), salt)
            query = replace(query, offset=offset)
        page = separate_omitted(reader, build_engine(context, reader).search(query))
        texts = (query.text, *query.more)
        unmatched = (
            [] if page.hits else find_unmatched(context, reader, query.filters, request, texts)
        )
        following = page.next_offset
        cursor = None if following is None else encode_cursor(query, following, page.revision, salt)
        response = to_search_response(page, query, cursor, several=bool(request.queries))
        if unmatched:
            from kebab.app.filters import suggest_nearest

            hint = suggest_nearest(unmatched)
            response = structs.replace(response, unmatched_filters=unmatched, hint=hint)
        if indexing := find_indexing(context):
            from kebab.app.indexing import explain_degraded

            degraded = explain_degraded(response.degraded, indexing)
            response = structs.replace(response, degraded=degraded, indexing=indexing)
        found = page.hits and page.convincing and not page.absent_terms
        coverage = measure_coverage(
            context,
            reader,
            query.filters,
            seconds=QUICK_S if found else THOROUGH_S,
            hits=response.hits,
            indexing=indexing,
        )
        coverage = name_omitted(coverage, page.omitted_terms)
    degraded = [*response.degraded, *describe_published(context)]
    return structs.replace(response, coverage=coverage, degraded=degraded)


def separate_omitted(reader: "SqliteReader", page: Page) -> Page:
    """Return a page that does not call words absent that a parser left out of a document."""
    if not page.absent_terms:
        return page
    from kebab.text.tokenizer import tokenize

    found = {term: reader.find_omitted(tokenize(term)) for term in page.absent_terms}
    return page._replace(
        absent_terms=tuple(term for term, reasons in found.items() if not reasons),
        omitted_terms={term: reasons for term, reasons in found.items() if reasons},
    )


def find_candidates(context: AppContext, query: Query) -> bool:
    """Let the store of a base that is not copied choose the passages that are compared.

    Return whether the base is one; its readers are opened anew.
    """
    if context.published is None or not context.published.is_remote:
        return False
    from kebab.search.lexical import COLUMN_WEIGHTS

    parsed = [parse_query(text, query.filters) for text in (query.text, *query.more)]
    words = [term.text for one in parsed for term in one.terms or one.stop_terms]
    _ = context.paths
    state, vector = context.published.state, None
    version = state.manifest.embedding_version if state else None
    if version and query.mode is not Mode.LEXICAL:
        embedder = context.embedders.load_installed(version)
        if embedder is not None and embedder.supports(query.text):
            vector = embedder.embed_query(query.text)
    context.use_index(context.published.find_candidates(words, vector, COLUMN_WEIGHTS))
    return True


def describe_published(context: AppContext) -> list[DegradedChannel]:
    """Return what the search of a published base lacks: a recent copy, or words left out."""
    if context.published is None:
        return []
    prefix = f"{context.base}: " if context.base else ""
    reasons = context.published.describe_age(), context.published.describe_reading()
    return [
        DegradedChannel(channel="published", reason=f"{prefix}{reason}", hint=None, partial=True)
        for reason in filter(None, reasons)
    ]


def resolve_request_filters(
    context: AppContext, reader: "SqliteReader", filters: Filters
) -> Filters:
    """Return filters that name sources, paths and documents as the snapshot does."""
    if not filters.is_active:
        return filters
    from kebab.app.filters import resolve_filters

    return resolve_filters(context, reader, filters)


def read_filters(
    context: AppContext, reader: "SqliteReader", request: FilteredRequest[Reply]
) -> Filters:
    """Return the filters of a request as a snapshot names things.

    Raises:
        InvalidInput: A date cannot be read, or a filter is not valid UTF-8.
    """
    filters = build_filters(request, context.clock.now())
    return resolve_request_filters(context, reader, filters)


def find_unmatched(
    context: AppContext,
    reader: "SqliteReader",
    filters: Filters,
    request: FilteredRequest[Reply],
    texts: "Sequence[str]",
) -> list[UnmatchedFilter]:
    """Return the filters, of the first query that has such ones, that no document passes."""
    parsed = [parse_query(text, filters).filters for text in texts] or [filters]
    active = [one for one in dict.fromkeys(parsed) if one.is_active]
    if not active:
        return []
    from kebab.app.filters import explain_filters

    explained = (explain_filters(context, reader, one, request) for one in active)
    return next(filter(None, explained), [])


def build_engine(context: AppContext, reader: "SqliteReader") -> SearchEngine:
    """Build the search engine of one snapshot."""
    vectors, embedder = prepare_vector_search(context, reader)

    def show(chunk: StoredChunk) -> StoredChunk:
        chunk = context.masks.mask_chunk(chunk)
        return chunk._replace(base=context.base) if context.base else chunk

    return SearchEngine(reader, vectors, embedder, cache=context.cache, mask=show)


def prepare_vector_search(
    context: AppContext, reader: "SqliteReader"
) -> "tuple[Callable[[], Vectors | None], Callable[[], Embedder]]":
    """Return functions that load the vectors of a snapshot and the embedder of queries.

    Both results are cached, so that one search uses one state of the vectors.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    return (
        cache(lambda: None if version is None else context.open_vector_index(version).load_index()),
        cache(lambda: load_query_embedder(context, reader)),
    )


def load_query_embedder(context: AppContext, reader: "SqliteReader") -> "Embedder":
    """Return the embedder of the stored vectors.

    Raises:
        EmbeddingMismatch: The settings name another model.
        EmbeddingUnavailable: No vector is stored, or the model is not on this machine.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    if version is not None:
        context.embedders.choose_model(version)
    return context.embedders.load_stored(version)
