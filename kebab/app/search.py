"""Answers a search request."""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.project import response
from kebab.app.queries import build_query
from kebab.core.stored import CURSOR_SALT, EMBEDDING_VERSION
from kebab.search import cursor
from kebab.search.engine import SearchEngine
from kebab.wire.search import SearchRequest, SearchResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import SqliteReader


def search(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, or a date cannot be read.
        InvalidCursor: The cursor is not one of ours, or belongs to another query.
        StaleCursor: The index moved since the cursor was issued.
        NotIndexed: There is no index.
        EmbeddingUnavailable: Vectors were demanded and cannot be had.
        EmbeddingMismatch: Vectors were demanded, and the settings name another model.
    """
    query = build_query(request, context.clock.now())
    with context.reader() as reader:
        salt = reader.get_value(CURSOR_SALT) or ""
        if request.cursor is not None:
            offset = cursor.decode(request.cursor, query, reader.revision(), salt)
            query = replace(query, offset=offset)
        page = build_engine(context, reader).search(query)
    following = page.next_offset
    token = None if following is None else cursor.encode(query, following, page.revision, salt)
    return response(page, query, token)


def build_engine(context: AppContext, reader: "SqliteReader") -> SearchEngine:
    """Return what searches one snapshot."""
    vectors, embedder = prepare_vector_search(context, reader)
    return SearchEngine(reader, vectors, embedder, cache=context.cache)


def prepare_vector_search(
    context: AppContext, reader: "SqliteReader"
) -> "tuple[Callable[[], Vectors | None], Callable[[], Embedder]]":
    """Return what gives the vectors of a snapshot, and the model that they are asked with.

    All questions of one search are asked of the same state of the index.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    return (
        cache(lambda: None if version is None else context.index(version).current()),
        cache(lambda: load_query_embedder(context, reader)),
    )


def load_query_embedder(context: AppContext, reader: "SqliteReader") -> "Embedder":
    """Return the model of the stored vectors.

    Raises:
        EmbeddingMismatch: The settings name another model.
        EmbeddingUnavailable: No vector is stored, or the model is not on this machine.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    if version is not None:
        context.embedders.choose_model(version)
    return context.embedders.load_stored(version)
