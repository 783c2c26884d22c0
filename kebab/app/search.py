"""Converts a search request to a query, runs it, and converts the page to the response."""

from functools import cache
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from kebab.app.context import AppContext, format_index_version
from kebab.app.coverage import (
    QUICK_S,
    THOROUGH_S,
    explain_degraded,
)
from kebab.app.filters import build_filters, explain_filters, suggest_nearest
from kebab.core.documents import EMBEDDING_VERSION, check_freshness
from kebab.core.queries import (
    Filters,
    Hit,
    Mode,
    Page,
    Query,
    StoredChunk,
)
from kebab.errors.catalog import InvalidInput, TooLarge
from kebab.search.citations import build_file_path, cite_chunk
from kebab.search.engine import SearchEngine
from kebab.search.query_parser import parse_query
from kebab.wire.citation import LineSpan
from kebab.wire.coverage import Coverage
from kebab.wire.record import Reply, fill_record, format_timestamp
from kebab.wire.search import (
    MAX_QUERY_BYTES,
    DetailName,
    FilteredRequest,
    QueryParsed,
    SearchHit,
    SearchRequest,
    SearchResponse,
    UnmatchedFilter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import SqliteReader


def build_query(request: SearchRequest, now: float) -> Query:
    """Convert a request to a query.

    Raises:
        InvalidInput: A date cannot be read, or a text is not valid UTF-8.
        TooLarge: The query has more than 1 MB.
    """
    filters = build_filters(request, now)
    first, *more = _list_queries(request)
    if (size := sum(len(text.encode()) for text in (first, *more))) > MAX_QUERY_BYTES:
        raise TooLarge(what="query", size=size, limit=MAX_QUERY_BYTES)
    return Query(
        text=first,
        more=tuple(more),
        mode=Mode(request.mode),
        limit=request.limit,
        filters=filters,
        per_doc=request.per_doc,
        min_confidence=request.min_confidence,
        detail=request.detail,
        snippet_chars=request.snippet_chars,
        max_tokens=request.max_tokens,
        rerank=request.rerank,
        sort=request.sort,
        trace=request.trace,
    )


def _list_queries(request: SearchRequest) -> list[str]:
    """Return the distinct queries of a request in order; `query` is the first, if there is one."""
    for index, text in enumerate(request.queries):
        if not text.strip():
            raise InvalidInput(field=f"$.queries[{index}]", cause="it is empty")
    has_first = bool(request.query.strip() or not request.queries)
    return list(dict.fromkeys([*([request.query] if has_first else []), *request.queries]))


def choose_seconds(page: Page) -> float:
    """Return the time for looking at the disk: longer where a page says that something lacks."""
    found = page.hits and page.convincing and not page.absent_terms
    return QUICK_S if found else THOROUGH_S


def complete_response(
    response: SearchResponse,
    unmatched: list[UnmatchedFilter],
    coverage: Coverage | None,
) -> SearchResponse:
    """Return a response with what is known besides its page."""
    indexing = coverage.indexing if coverage else None
    return structs.replace(
        response,
        degraded=explain_degraded(response.degraded, indexing),
        unmatched_filters=unmatched,
        hint=suggest_nearest(unmatched),
        coverage=coverage,
    )


def to_search_response(
    page: Page, query: Query, next_cursor: str | None, *, several: bool = False
) -> SearchResponse:
    """Convert a page of hits; with `several` it says which queries found each hit."""
    queries = [query.text, *query.more]
    embeddings = dict.fromkeys(hit.chunk.embedding_version for hit in page.hits)
    versions = [one for one in embeddings if one is not None]
    return fill_record(
        SearchResponse,
        page,
        query=" | ".join(queries),
        queries=queries if several else UNSET,
        mode=query.mode.value,
        hits=[to_search_hit(hit, query.detail, several=several) for hit in page.hits],
        next_cursor=next_cursor,
        truncated=page.left_out is not None,
        left_out=page.left_out or UNSET,
        corpus_revision=page.revision,
        index_versions=[*dict.fromkeys(map(format_index_version, versions))],
        chunker_versions=[*dict.fromkeys(hit.chunk.chunker_version for hit in page.hits)],
        embedding_versions=versions,
        query_parsed=page.query_parsed or QueryParsed(),
        convincing_queries=list(page.convincing_queries) if several else UNSET,
        trace=list(page.stages) if query.trace else UNSET,
    )


def to_search_hit(hit: Hit, detail: DetailName = "snippets", *, several: bool = False) -> SearchHit:
    """Convert a hit, and compare its file with the disk."""
    chunk, (text, highlights) = hit.chunk, hit.snippet
    whole = detail in ("passages", "best")
    return fill_record(
        SearchHit,
        hit,
        chunk,
        score_kind="calibrated",
        doc_path=chunk.path,
        file=build_file_path(chunk),
        base=chunk.base or UNSET,
        snippet="" if whole else text,
        highlights=[] if whole else list(highlights),
        text=text if whole and text else UNSET,
        text_highlights=list(highlights) if whole and text else UNSET,
        context=chunk.context if chunk.context and text else UNSET,
        queries=list(hit.queries) if several else UNSET,
        citation=cite_chunk(chunk),
        symbol_lines=LineSpan(start=hit.symbol[0], end=hit.symbol[1]) if hit.symbol else UNSET,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
    )


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
    from kebab.core.queries import COLUMN_WEIGHTS

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
