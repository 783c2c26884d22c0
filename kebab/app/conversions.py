"""Converts hits, documents and progress to wire records with citations."""

import os
import unicodedata
from typing import TYPE_CHECKING

from msgspec import UNSET

from kebab.app.context import index_version
from kebab.app.timestamps import format_timestamp
from kebab.core.documents import STDIN
from kebab.core.queries import Hit, Page, Query
from kebab.wire.citation import Citation, Freshness, LineCitation, LineSpan
from kebab.wire.search import SearchHit, SearchResponse

if TYPE_CHECKING:
    from kebab.core.progress import Progress
    from kebab.wire.ingest import IngestProgress

_RESERVED = frozenset("%#?\\\"<>^`{}|[]()*' ")


def cite_lines(path: str, start: int, end: int) -> Citation:
    """Return the citation of lines `start` to `end` of a file."""
    fragment = f"#L{start}" if start == end else f"#L{start}-L{end}"
    return LineCitation(
        path=path, uri=quote_path(path) + fragment, line=LineSpan(start=start, end=end)
    )


def quote_path(path: str) -> str:
    """Return a path as the path of an IRI: reserved, blank and invisible characters escaped."""
    return "".join(one if _plain(one) else _escaped(one) for one in path)


def build_file_path(source: str, root: str, path: str) -> str | None:
    """Return where a document's file lies, None for text from standard input."""
    return None if source == STDIN else os.path.join(root, path)  # noqa: PTH118 - called for every hit


def check_freshness(root: str, path: str, size: int, mtime_ns: int) -> Freshness:
    """Return how the file on disk compares with what was indexed, by size and time."""
    try:
        now = os.stat(os.path.join(root, path))  # noqa: PTH116, PTH118 - called for every hit
    except OSError:
        return "gone"
    return "fresh" if (now.st_size, now.st_mtime_ns) == (size, mtime_ns) else "changed"


def _plain(character: str) -> bool:
    if character in _RESERVED:
        return False
    return " " < character < "\x7f" or unicodedata.category(character)[0] not in "CZ"


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def to_search_response(page: Page, query: Query, next_cursor: str | None) -> SearchResponse:
    """Return a page of hits."""
    return SearchResponse(
        query=query.text,
        mode=query.mode.value,
        hits=[to_search_hit(hit) for hit in page.hits],
        has_more=page.has_more,
        next_cursor=next_cursor,
        truncated=page.truncated,
        degraded=list(page.degraded),
        corpus_revision=page.revision,
        timing_ms=page.timing_ms,
        trace=list(page.stages) if query.trace else UNSET,
    )


def to_search_hit(hit: Hit) -> SearchHit:
    """Return one hit, its file compared with the disk."""
    chunk = hit.chunk
    return SearchHit(
        rank=hit.rank,
        score=hit.score,
        confidence=hit.confidence.value,
        score_kind="calibrated",
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=build_file_path(chunk.source, chunk.root, chunk.path),
        source=chunk.source,
        title=chunk.title,
        heading_path=list(chunk.heading_path),
        chunk_id=chunk.chunk_id,
        snippet=hit.snippet.text,
        highlights=list(hit.snippet.highlights),
        citation=cite_lines(chunk.path, chunk.start_line, chunk.end_line),
        retrieval=hit.retrieval,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        index_version=index_version(chunk.embedding_version),
        chunker_version=chunk.chunker_version,
        embedding_version=chunk.embedding_version,
    )


def to_ingest_progress(event: "Progress") -> "IngestProgress":
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
