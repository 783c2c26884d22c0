"""The library as people look through it: summaries, details and counts."""

from collections.abc import Mapping
from typing import NamedTuple

from kebab.core.hit import StoredChunk
from kebab.core.ids import ChunkId, DocId


class StoredDocument(NamedTuple):
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


class DocumentPage(NamedTuple):
    """A part of a list, and how many documents the whole list has."""

    documents: tuple[StoredDocument, ...]
    total: int


class DocumentDetail(NamedTuple):
    """A document with its chunks in order."""

    summary: StoredDocument
    content_hash: str
    recipe: str
    parser_version: str
    chunker_version: str
    chunks: tuple[StoredChunk, ...]


class ChunkDetail(NamedTuple):
    """A chunk with its neighbours in its document."""

    chunk: StoredChunk
    text_hash: str
    previous: ChunkId | None
    following: ChunkId | None


class Ambiguous(NamedTuple):
    """What a reference could mean, when it could mean more than one thing."""

    candidates: tuple[str, ...]


class LibraryCounts(NamedTuple):
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
