"""Converts stored documents, hits and progress to wire records.

Timestamps are written as RFC 3339; the dates and ages that people type are parsed.
"""

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from msgspec import UNSET

from kebab.app.context import format_index_version
from kebab.core.documents import PUBLISHED_ROOT, StoredDocument, find_emptiness, is_cut
from kebab.core.files import FileState, find_container, join_root
from kebab.core.queries import Detail, Hit, Page, Query, StoredChunk
from kebab.errors.catalog import InvalidInput
from kebab.search.citations import build_file_path, cite_chunk
from kebab.text.dates import parse_moment
from kebab.wire.citation import Freshness
from kebab.wire.search import QueryParsed, SearchHit, SearchResponse

if TYPE_CHECKING:
    from kebab.core.progress import Progress
    from kebab.wire.ingest import IngestProgress
    from kebab.wire.library import DocSummary

_MAX_SECONDS = 9_000_000_000.0
"""The limit of file times in nanoseconds, before and after the epoch: about 285 years."""


def format_timestamp(seconds: float) -> str:
    """Return seconds since the epoch as RFC 3339 in UTC, to the millisecond."""
    time = datetime.fromtimestamp(seconds, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str, field: str, now: float) -> float:
    """Return seconds since the epoch for a date, a timestamp, an age, or a period of the calendar.

    An age is `7d` or `2 weeks`, a period is `2024-03` or `last month` and begins with its first
    day. What has no offset is local time. A time beyond the limits of file times is replaced by the
    limit.

    Raises:
        InvalidInput: The text has none of these forms.
    """
    try:
        seconds = parse_moment(text, now)
    except (ValueError, OverflowError) as fault:
        cause = f"not a date, a month, a year, an age such as `7d`, or `last month`: {text}"
        raise InvalidInput(field=field, cause=cause) from fault
    return max(-_MAX_SECONDS, min(_MAX_SECONDS, seconds))


Stored: TypeAlias = StoredChunk | StoredDocument

_NANO = 1_000_000_000


def check_freshness(stored: Stored | FileState) -> Freshness:
    """Compare the file on disk with what was indexed, by size and modification time."""
    if stored.root.startswith(PUBLISHED_ROOT):
        return "published"
    path = join_root(stored.root, stored.path)
    try:
        status = os.stat(find_container(path))  # noqa: PTH116 - called for every hit
    except OSError:
        return "gone"
    return compare_status(stored, status)


def compare_status(stored: Stored | FileState, status: os.stat_result) -> Freshness:
    """Compare the status of the file with what was indexed; for a member, that of its container."""
    path = join_root(stored.root, stored.path)
    size = status.st_size if find_container(path) == path else stored.size
    same = (size, status.st_mtime_ns) == (stored.size, stored.mtime_ns)
    return "fresh" if same else "changed"


def to_doc_summary(document: StoredDocument) -> "DocSummary":
    """Convert a document, and compare its file with the disk."""
    from kebab.wire.library import DocSummary

    said = document.warnings
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
        freshness=check_freshness(document),
        date=document.date,
        authors=list(document.authors),
        aliases=list(document.aliases),
        no_passages=find_emptiness(said) or (None if document.chunks else "not recorded"),
        partial=[*filter(is_cut, said)],
    )


def to_search_response(
    page: Page,
    query: Query,
    next_cursor: str | None,
    *,
    several: bool = False,
) -> SearchResponse:
    """Convert a page of hits; with `several` it says which queries found each hit."""
    queries, read = (query.text, *query.more), page.interpretation
    found = dict.fromkeys(hit.chunk.embedding_version for hit in page.hits)
    embeddings = [one for one in found if one is not None]
    return SearchResponse(
        query=" | ".join(queries),
        queries=list(queries) if several else UNSET,
        mode=query.mode.value,
        hits=[to_search_hit(hit, query.detail, several=several) for hit in page.hits],
        has_more=page.has_more,
        next_cursor=next_cursor,
        truncated=page.left_out is not None,
        left_out=page.left_out or UNSET,
        degraded=list(page.degraded),
        corpus_revision=page.revision,
        index_versions=[*dict.fromkeys(map(format_index_version, embeddings))],
        chunker_versions=[*dict.fromkeys(hit.chunk.chunker_version for hit in page.hits)],
        embedding_versions=embeddings,
        timing_ms=page.timing_ms,
        query_parsed=QueryParsed(
            terms=list(read.terms),
            phrases=list(read.phrases),
            excluded=list(read.excluded),
            filters={name: _to_json(value) for name, value in read.filters.list_active().items()},
        ),
        absent_terms=list(page.absent_terms),
        unheld_terms=list(page.unheld_terms),
        convincing=page.convincing,
        convincing_queries=list(page.convincing_queries) if several else UNSET,
        trace=list(page.stages) if query.trace else UNSET,
    )


def _to_json(value: str | float | tuple[str, ...]) -> str | list[str]:
    """Return the value of a filter, times as text."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str) else format_timestamp(value)


def to_search_hit(
    hit: Hit, detail: Detail = Detail.SNIPPETS, *, several: bool = False
) -> SearchHit:
    """Convert a hit, and compare its file with the disk."""
    chunk, (text, highlights) = hit.chunk, hit.snippet
    whole = detail in (Detail.PASSAGES, Detail.BEST)
    return SearchHit(
        rank=hit.rank,
        score=hit.score,
        confidence=hit.confidence.value,
        score_kind="calibrated",
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=build_file_path(chunk),
        source=chunk.source,
        base=chunk.base or UNSET,
        title=chunk.title,
        heading_path=list(chunk.heading_path),
        chunk_id=chunk.chunk_id,
        snippet="" if whole else text,
        highlights=[] if whole else list(highlights),
        text=text if whole and text else UNSET,
        text_highlights=list(highlights) if whole and text else UNSET,
        context=chunk.context if chunk.context and text else UNSET,
        queries=list(hit.queries) if several else UNSET,
        citation=cite_chunk(chunk),
        retrieval=hit.retrieval,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
    )


def to_ingest_progress(event: "Progress") -> "IngestProgress":
    """Convert an event; fields that are None are left out."""
    from kebab.wire.ingest import IngestProgress

    fields = {name: value for name, value in event._asdict().items() if value is not None}
    return IngestProgress(**{**fields, "kind": event.kind.value})
