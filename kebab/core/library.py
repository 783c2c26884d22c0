"""The library as people look through it: summaries, details and counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from kebab.core.hit import StoredChunk
from kebab.core.ids import ChunkId, DocId


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """A document in a list. `mtime_ns` is the file's when it was read, `indexed_at` in seconds."""

    doc_id: DocId
    source: str
    root: str
    path: str
    title: str
    media: str
    lang: str | None
    tags: tuple[str, ...]
    size: int
    mtime_ns: int
    indexed_at: float
    chunks: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """A part of a list, and how many documents the whole list has."""

    documents: tuple[DocumentSummary, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetail:
    """A document with its chunks in order."""

    summary: DocumentSummary
    content_hash: str
    recipe: str
    parser_version: str
    chunker_version: str
    chunks: tuple[StoredChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDetail:
    """A chunk with its neighbours in its document."""

    chunk: StoredChunk
    text_hash: str
    previous: ChunkId | None
    following: ChunkId | None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """What a reference could mean, when it could mean more than one thing."""

    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCounts:
    """How much the library holds. `last_change` is in seconds since the epoch.

    `media` and `lang` count documents; documents of unknown language stand under the empty string.
    """

    documents: int
    chunks: int
    assets: int
    pending: int
    last_change: float | None
    media: Mapping[str, int]
    lang: Mapping[str, int]
