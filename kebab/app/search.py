"""Searching: a request becomes a query, and a page becomes the response."""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from kebab.app.compose import Workshop
from kebab.app.legible import require_legible
from kebab.app.moment import parsed
from kebab.app.project import response
from kebab.core.query import Filters, Mode, Query
from kebab.core.stored import CURSOR_SALT, EMBEDDING_VERSION
from kebab.search import cursor
from kebab.search.engine import SearchEngine
from kebab.wire.search import FilteredRequest, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import SqliteReader


def search(shop: Workshop, request: SearchRequest) -> SearchResponse:
    """Return one page.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, or a date cannot be read.
        InvalidCursor: The cursor is not one of ours, or belongs to another query.
        StaleCursor: The index moved since the cursor was issued.
        NotIndexed: There is no index.
        EmbeddingUnavailable: Vectors were demanded and cannot be had.
        EmbeddingMismatch: Vectors were demanded, and the settings name another model.
    """
    query = as_query(request, shop.clock.now())
    with shop.reader() as reader:
        salt = reader.get_value(CURSOR_SALT) or ""
        if request.cursor is not None:
            offset = cursor.decode(request.cursor, query, reader.revision(), salt)
            query = replace(query, offset=offset)
        page = engine(shop, reader).search(query)
    following = page.next_offset
    token = None if following is None else cursor.encode(query, following, page.revision, salt)
    return response(page, query, token)


def as_query(request: SearchRequest, now: float) -> Query:
    """Return the query that a request means.

    Raises:
        InvalidInput: A date cannot be read, or a text is not valid UTF-8.
    """
    require_legible(msgspec.structs.asdict(request))
    return Query(
        text=request.query,
        mode=Mode(request.mode),
        limit=request.limit,
        filters=as_filters(request, now),
        per_doc=request.per_doc,
        snippet_chars=request.snippet_chars,
        max_tokens=request.max_tokens,
        trace=request.trace,
    )


def as_filters(request: FilteredRequest, now: float) -> Filters:
    """Return the filters that a request sets.

    Raises:
        InvalidInput: A date cannot be read.
    """
    return Filters(
        tag=tuple(request.tag),
        lang=tuple(request.lang),
        media=tuple(request.media),
        path_glob=request.path_glob,
        source=tuple(request.source),
        doc_id=request.doc_id,
        since=None if request.since is None else parsed(request.since, "$.since", now),
        until=None if request.until is None else parsed(request.until, "$.until", now),
    )


def engine(shop: Workshop, reader: "SqliteReader") -> SearchEngine:
    """Return what searches one snapshot."""
    vectors, embedder = parts(shop, reader)
    return SearchEngine(reader, vectors, embedder, cache=shop.cache)


def parts(
    shop: Workshop, reader: "SqliteReader"
) -> "tuple[Callable[[], Vectors | None], Callable[[], Embedder]]":
    """Return what gives the vectors of a snapshot, and the model that they are asked with.

    All questions of one search are asked of the same state of the index.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    return (
        cache(lambda: None if version is None else shop.index(version).current()),
        cache(lambda: query_embedder(shop, reader)),
    )


def query_embedder(shop: Workshop, reader: "SqliteReader") -> "Embedder":
    """Return the model of the stored vectors.

    Raises:
        EmbeddingMismatch: The settings name another model.
        EmbeddingUnavailable: No vector is stored, or the model is not on this machine.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    if version is not None:
        shop.embedders.wanted(version)
    return shop.embedders.stored(version)
