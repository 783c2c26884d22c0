"""Translates internal records into records of the wire."""

from typing import TYPE_CHECKING

from msgspec import UNSET

from kebab.app.compose import index_version
from kebab.app.moment import stamp
from kebab.app.place import file_of, freshness, line_citation
from kebab.core.hit import Hit, Page
from kebab.core.query import Query
from kebab.wire.search import SearchHit, SearchResponse

if TYPE_CHECKING:
    from kebab.core.progress import Progress
    from kebab.wire.ingest import IngestProgress


def response(page: Page, query: Query, next_cursor: str | None) -> SearchResponse:
    """Return a page of hits."""
    return SearchResponse(
        query=query.text,
        mode=query.mode.value,
        hits=[search_hit(hit) for hit in page.hits],
        has_more=page.has_more,
        next_cursor=next_cursor,
        truncated=page.truncated,
        degraded=list(page.degraded),
        corpus_revision=page.revision,
        timing_ms=page.timing_ms,
        trace=list(page.stages) if query.trace else UNSET,
    )


def search_hit(hit: Hit) -> SearchHit:
    """Return one hit, its file compared with the disk."""
    chunk = hit.chunk
    return SearchHit(
        rank=hit.rank,
        score=hit.score,
        confidence=hit.confidence.value,
        score_kind="calibrated",
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=file_of(chunk.source, chunk.root, chunk.path),
        source=chunk.source,
        title=chunk.title,
        heading_path=list(chunk.heading_path),
        chunk_id=chunk.chunk_id,
        snippet=hit.snippet.text,
        highlights=list(hit.snippet.highlights),
        citation=line_citation(chunk.path, chunk.start_line, chunk.end_line),
        retrieval=hit.retrieval,
        indexed_at=stamp(chunk.indexed_at),
        freshness=freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        index_version=index_version(chunk.embedding_version),
        chunker_version=chunk.chunker_version,
        embedding_version=chunk.embedding_version,
    )


def progress(event: "Progress") -> "IngestProgress":
    """Return an event; what it does not know is left out."""
    from kebab.wire.ingest import IngestProgress

    return IngestProgress(
        kind=event.kind.value,
        path=UNSET if event.path is None else event.path,
        phase=UNSET if event.phase is None else event.phase,
        done=UNSET if event.done is None else event.done,
        total=UNSET if event.total is None else event.total,
        unit=UNSET if event.unit is None else event.unit,
        message=UNSET if event.message is None else event.message,
        elapsed_ms=event.elapsed_ms,
    )
