"""Declares the lines of `search --bulk` and of `search --stream` as wire records."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from kebab.wire.citation import Count
from kebab.wire.coverage import Coverage
from kebab.wire.error import ErrorReply
from kebab.wire.query_parsed import QueryParsed
from kebab.wire.record import Reply
from kebab.wire.search import DegradedChannel, LeftOut, SearchHit, SearchResponse


class BulkSearchItem(Reply, frozen=True, kw_only=True, tag="bulk_search_item.v1"):
    """The result of one line of a bulk search: exactly one of `response` and `error`."""

    index: Count
    """The index of the input line, from 0; empty lines do not count."""
    query: str | None
    """The query; null when the line could not be read."""
    response: SearchResponse | UnsetType = UNSET
    """The page of hits."""
    error: ErrorReply | UnsetType = UNSET
    """The reason why there is no page."""


class EventData(Struct, frozen=True, kw_only=True):
    """The data of an event: the fields that belong to its type, and no others."""

    stage: str | UnsetType = UNSET
    """`stage`: the stage that begins."""
    items: list[SearchHit] | UnsetType = UNSET
    """`items`: hits, in order."""
    elapsed_ms: float | UnsetType = UNSET
    """`progress`, `complete`: the time since the search began."""
    hit_count: int | UnsetType = UNSET
    """`complete`: the number of hits that were sent."""
    queries: list[str] | UnsetType = UNSET
    """`complete`: the queries, when the request has `queries`."""
    has_more: bool | UnsetType = UNSET
    """`complete`: whether there are further hits."""
    next_cursor: str | UnsetType | None = UNSET
    """`complete`: the cursor of the next page."""
    truncated: bool | UnsetType = UNSET
    """`complete`: whether `max_tokens` shortened the page."""
    left_out: LeftOut | UnsetType = UNSET
    """`complete`: what `max_tokens` left out, if anything."""
    degraded: list[DegradedChannel] | UnsetType = UNSET
    """`complete`: the channels that were not available."""
    corpus_revision: int | UnsetType = UNSET
    """`complete`: the revision of the index."""
    query_parsed: QueryParsed | UnsetType = UNSET
    """`complete`: how the query was read."""
    absent_terms: list[str] | UnsetType = UNSET
    """`complete`: words and phrases that occur nowhere in what was searched."""
    coverage: Coverage | UnsetType = UNSET
    """`complete`: what the index covers of what was searched."""
    convincing: bool | UnsetType = UNSET
    """`complete`: whether the best hit of the whole search is above `weak`."""
    convincing_queries: list[int] | UnsetType = UNSET
    """`complete`: the queries for which this holds, when the request has `queries`."""
    error: ErrorReply | UnsetType = UNSET
    """`error`: the error."""


class SearchEvent(Reply, frozen=True, kw_only=True, tag="search_event.v1"):
    """One line of `search --stream`; a reader skips types that it does not know."""

    type: Literal["stage", "items", "progress", "complete", "error", "end"]
    """The type of this line: `complete` ends the work and `end` the transmission."""
    data: EventData
    """The data of the event."""
