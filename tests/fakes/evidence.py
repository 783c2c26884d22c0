"""Chunks, hits and pages with every field filled in, for tests of what is made of them."""

from collections.abc import Mapping
from typing import Any

from kebab.core.chunks import ChunkId, DocId, Key
from kebab.core.queries import Hit, Page, Snippet, StoredChunk
from kebab.search.answerability import classify_confidence
from kebab.wire.search import DegradedChannel, Retrieval


def stored(text: str, key: int = 1, **fields: Any) -> StoredChunk:
    """Return a chunk as it stands in the library."""
    given: dict[str, Any] = {
        "key": Key(key),
        "chunk_id": ChunkId(f"{key:032x}"),
        "doc_id": DocId(f"{key:032x}"),
        "ordinal": 0,
        "text": text,
        "start_line": 1,
        "end_line": 1 + text.count("\n"),
        "heading_path": (),
        "source": "/home/me/notes",
        "root": "/home/me/notes",
        "path": f"note-{key}.md",
        "title": f"Note {key}",
        "media": "text/markdown",
        "lang": "en",
        "tags": (),
        "size": len(text),
        "mtime_ns": 0,
        "indexed_at": 0.0,
        "chunker_version": "headings-v1",
        "embedding_version": None,
    }
    return StoredChunk(**{**given, **fields})


def retrieval(**fields: Any) -> Retrieval:
    """Return how a hit was found: by its words if nothing else is said."""
    given: dict[str, Any] = {
        "method": "lexical",
        "lexical_rank": None,
        "lexical_score": None,
        "vector_rank": None,
        "vector_score": None,
        "fusion_score": 0.0,
    }
    return Retrieval(**{**given, **fields})


def hit(chunk: StoredChunk, rank: int = 1, score: float = 0.9) -> Hit:
    """Return a chunk as a hit."""
    return Hit(
        rank=rank,
        score=score,
        confidence="strong" if classify_confidence(score) == "strong" else "weak",
        chunk=chunk,
        snippet=Snippet(text=chunk.text[:80]),
        retrieval=retrieval(lexical_rank=rank, lexical_score=score, fusion_score=score),
    )


def page(
    *hits: Hit,
    asked: Mapping[str, float] | None = None,
    degraded: tuple[DegradedChannel, ...] = (),
    answerability: float | None = None,
) -> Page:
    """Return a page of hits; as convincing as its best one if nothing else is said."""
    return Page(
        hits=hits,
        has_more=False,
        next_offset=None,
        left_out=None,
        degraded=degraded,
        revision=7,
        timing_ms=1.0,
        term_rarities=asked or {},
        answerability=(
            max((one.score for one in hits), default=0.0)
            if answerability is None
            else answerability
        ),
    )
