"""From the nouns to wire objects; core types never leave `app`."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

from kebab.app.citations import file_of, freshness, line_citation
from kebab.app.timestamps import format_timestamp
from kebab.core.hit import Degraded, Hit, Page
from kebab.core.query import Query
from kebab.wire.search import (
    DegradedChannel,
    Lift,
    Retrieval,
    SearchHit,
    SearchResponse,
    TraceStage,
)

if TYPE_CHECKING:
    from kebab.core.progress import Progress
    from kebab.wire.ingest import IngestProgress

INDEX_VERSION = "lance-flat-l2-384-v1"
"""Vectors are searched exactly."""


def response(page: Page, query: Query, next_cursor: str | None) -> SearchResponse:
    """Return a page of hits."""
    return SearchResponse(
        query=query.text,
        mode=query.mode.value,
        hits=[search_hit(hit, trace=query.trace) for hit in page.hits],
        has_more=page.has_more,
        next_cursor=next_cursor,
        truncated=page.truncated,
        degraded=degraded(page.degraded),
        corpus_revision=page.revision,
        timing_ms=page.timing_ms,
        trace=_stages(page) if query.trace else UNSET,
    )


def degraded(lost: Iterable[Degraded]) -> list[DegradedChannel]:
    """Return the channels that could not answer."""
    return [DegradedChannel(channel=one.channel, reason=one.reason, hint=one.hint) for one in lost]


def search_hit(hit: Hit, *, trace: bool = False) -> SearchHit:
    """Return one hit, its file compared with the disk; with `trace` what its evidence is of."""
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
        retrieval=_retrieval(hit, trace=trace),
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        index_version=INDEX_VERSION,
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


def lifts(added: Mapping[str, float]) -> list[Lift]:
    """Return what was added to evidence; reasons that add nothing are left out."""
    return [Lift(reason=reason, value=value) for reason, value in added.items() if value]


def _retrieval(hit: Hit, *, trace: bool) -> Retrieval:
    evidence = hit.evidence
    lexical, vector = evidence.lexical_rank is not None, evidence.vector_rank is not None
    return Retrieval(
        method="hybrid" if lexical and vector else "vector" if vector else "lexical",
        lexical_rank=evidence.lexical_rank,
        lexical_score=evidence.lexical_score,
        vector_rank=evidence.vector_rank,
        vector_score=evidence.vector_score,
        fusion_score=evidence.fusion_score,
        lifts=lifts(evidence.lifts) if trace else UNSET,
    )


def _stages(page: Page) -> list[TraceStage]:
    return [
        TraceStage(
            stage=one.stage,
            duration_ms=one.duration_ms,
            candidates=one.candidates,
            note=one.note,
        )
        for one in page.stages
    ]
