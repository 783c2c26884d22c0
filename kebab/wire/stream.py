"""Declares the lines of streams as wire records: bulk search, frames, reviews, watch events."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestReport
from kebab.wire.record import Count, Hinted, Record, Reply
from kebab.wire.review import AgentItems
from kebab.wire.search import SearchHit, SearchResponse, Sources


class BulkSearchItem(Reply, frozen=True, kw_only=True, tag="bulk_search_item.v1"):
    """The result of one line of a bulk search: exactly one of `response` and `error`."""

    index: Count
    """The index of the input line, from 0; empty lines do not count."""
    query: str | None
    """The query; null when the line could not be read."""
    response: SearchResponse | UnsetType = UNSET
    error: ErrorReply | UnsetType = UNSET


class EventData(Struct, frozen=True, kw_only=True):
    """The data of an event: the fields that belong to its type, and no others."""

    stage: str | UnsetType = UNSET
    """`stage`: the stage that begins."""
    items: list[SearchHit] | UnsetType = UNSET
    """`items`: hits, in order."""
    sources: Sources | UnsetType = UNSET
    elapsed_ms: float | UnsetType = UNSET
    """`progress`, `complete`: the time since the search began."""
    hit_count: int | UnsetType = UNSET
    """`complete`: the number of hits that were sent."""
    page: SearchResponse | UnsetType = UNSET
    """`complete`: the page without its hits and without an envelope."""
    error: ErrorReply | UnsetType = UNSET


class SearchEvent(Reply, frozen=True, kw_only=True, tag="search_event.v1"):
    """One line of `search --stream`; a reader skips types that it does not know."""

    type: Literal["stage", "items", "progress", "complete", "error", "end"]
    """The type of this line: `complete` ends the work and `end` the transmission."""
    data: EventData


class ReviewEventData(Record, frozen=True, kw_only=True, tag="review_event_data.v1"):
    """The data of an event: the fields that belong to its type, and no others."""

    run_id: str | UnsetType = UNSET
    """All types: the run."""
    chunk_id: str | UnsetType = UNSET
    """`stage`, `progress`: the unit."""
    stage: str | UnsetType = UNSET
    """`stage`, `error`: `rules`, `proofread` or `draft`, and `unread` for a file that cannot be
    read."""
    status: Literal["queued", "in_progress", "done", "error"] | UnsetType = UNSET
    """`stage`: the state of the stage."""
    label: str | UnsetType = UNSET
    """`stage`: what a person reads."""
    item_count: Count | UnsetType = UNSET
    """`stage`: the number of items that the stage found."""
    message: str | UnsetType = UNSET
    """`stage`, `error`: what happened."""
    emitted: Count | UnsetType = UNSET
    """`progress`: the number of units that are done."""
    total: Count | UnsetType = UNSET
    """`progress`: the number of units, as far as they are known."""
    has_more: bool | UnsetType = UNSET
    """`progress`: whether there may be further items."""
    cursor: str | UnsetType = UNSET
    """`progress` behind `items`: the cursor of the next page; empty at the end."""
    elapsed_ms: float | UnsetType = UNSET
    """`heartbeat`: the time since the work began."""
    completed_at: str | UnsetType = UNSET
    """`complete`: the time, RFC 3339 in UTC with `Z`."""
    retryable: bool | UnsetType = UNSET
    """`error`: whether the same request may succeed later."""
    code: str | UnsetType = UNSET
    """`error`: the code of `error.v1`."""
    completed: bool | UnsetType = UNSET
    """`end`: whether all the work was done."""
    reason: str | UnsetType = UNSET
    """`end`: why it was not."""


class ReviewEvent(Reply, frozen=True, kw_only=True, tag="review_event.v1"):
    """One line of `review --stream`; a reader skips types that it does not know."""

    type: Literal["stage", "items", "progress", "heartbeat", "complete", "error", "end"]
    """The type of this line: `complete` ends the work and `end` the transmission."""
    data: ReviewEventData | AgentItems
    """The data of the event; that of `items` is the page."""


WatchEventKind = Literal["started", "indexed", "waiting", "failed", "polling", "ended"]


class WatchReport(Reply, frozen=True, kw_only=True, tag="watch_report.v1"):
    """The summary of a watcher that ended."""

    folders: list[str]
    """The folders that it followed last."""
    runs: int
    """The number of runs that changed the index or met files with an error."""
    failures: int
    """The number of runs that failed as a whole; their changes were tried again."""
    polling: bool
    """Whether it looked for changes by scanning, because the system could not report them."""
    interrupted: bool
    """Whether it ended within a run; the next ingest completes what is left."""
    duration_ms: int


class WatchEvent(Reply, Hinted, frozen=True, kw_only=True, tag="watch_event.v1"):
    """One event of a watcher; `ended` is the last one."""

    kind: WatchEventKind
    """`started`: it follows changes from now on. `indexed`: a run changed the index. `waiting`:
    another process writes, and the run is tried again. `failed`: a run failed, and it is tried
    again. `polling`: it scans for changes, because the system cannot report them. `ended`: nothing
    follows."""
    folders: list[str] = msgspec.field(default_factory=list)
    """The followed folders, with `started`."""
    report: IngestReport | UnsetType = UNSET
    """The report of the run, with `indexed`."""
    error: ErrorReply | UnsetType = UNSET
    """The reason, with `waiting` and `failed`, and with `ended` when an error ended it."""
    message: str | None = None
    """The reason, with `polling`; else null."""
    hint: str | None = None
    """What helps, with `polling`; null when nothing does."""
    summary: WatchReport | UnsetType = UNSET
    """The summary, with `ended`."""
