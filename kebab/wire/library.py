"""The library: documents, passages, and the lines of a person's files."""

from typing import Literal

from msgspec import Struct

from kebab.wire.citation import Citation, Freshness
from kebab.wire.record import Record, Reply

VectorState = Literal["pending", "committed", "unsupported"]


class DocSummary(Record, frozen=True, kw_only=True, tag="doc_summary.v1"):
    """One document in a list."""

    doc_id: str
    """Its id."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    source: str
    """The name of its source."""
    title: str
    """Its title."""
    media: str
    """Its media type."""
    lang: str | None
    """Its language; null when unknown."""
    tags: list[str]
    """Its tags."""
    size: int
    """The bytes of its file when it was indexed."""
    chunk_count: int
    """How many passages it has."""
    modified_at: str
    """When the file was changed, RFC 3339."""
    indexed_at: str
    """When it was indexed, RFC 3339."""
    freshness: Freshness
    """The file on disk against what was indexed."""


class DocList(Reply, frozen=True, kw_only=True, tag="doc_list.v1"):
    """Documents, by source and path."""

    documents: list[DocSummary]
    """This page."""
    total: int
    """How many there are in all."""
    offset: int
    """How many stand before this page."""
    has_more: bool
    """Whether there are more."""
    corpus_revision: int
    """The state of the index that answered."""


class ChunkBrief(Struct, frozen=True, kw_only=True):
    """One passage of a document."""

    chunk_id: str
    """Its id."""
    ordinal: int
    """Its place in the document, 0-based."""
    heading_path: list[str]
    """The headings that lead to it."""
    citation: Citation
    """Where it stands."""
    chars: int
    """How many code points it has."""
    vector: VectorState
    """Whether it has a vector."""


class DocInspection(Reply, frozen=True, kw_only=True, tag="doc_inspection.v1"):
    """All that is known of a document."""

    document: DocSummary
    """The document."""
    file: str | None
    """Where its file lies; null for text from standard input."""
    content_hash: str
    """The hash of its bytes."""
    parser_version: str
    """What read it."""
    chunker_version: str
    """What cut it."""
    warnings: list[str]
    """What was odd about the file."""
    chunks: list[ChunkBrief]
    """Its passages."""


class ChunkInspection(Reply, frozen=True, kw_only=True, tag="chunk_inspection.v1"):
    """All that is known of a passage."""

    chunk: ChunkBrief
    """The passage."""
    document: DocSummary
    """Its document."""
    text: str
    """Its text."""
    embed_text: str
    """What the embedder is given."""
    text_hash: str
    """The hash of its text."""
    embedding_version: str | None
    """What embedded it; null when it has no vector."""
    previous_chunk_id: str | None
    """The passage before it."""
    next_chunk_id: str | None
    """The passage after it."""


class FetchResult(Reply, frozen=True, kw_only=True, tag="fetch_result.v1"):
    """Original lines of a person's file."""

    kind: Literal["chunk", "doc", "span"]
    """What was asked for."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source."""
    title: str
    """Its title."""
    chunk_id: str | None
    """The passage, when one was asked for."""
    text: str
    """The lines, with the context that was asked for."""
    start_line: int
    """The first line of `text`, 1-based."""
    end_line: int
    """The last line of `text`, inclusive."""
    line_count: int
    """How many lines the file has."""
    citation: Citation
    """What was asked for, without context."""
    freshness: Freshness
    """The file on disk against what was indexed; `gone` gives the indexed text."""
    truncated: bool
    """Whether `--max-chars` cut the text."""


class LookupFault(Struct, frozen=True, kw_only=True):
    """Why an id was not found."""

    kind: Literal["not_found", "ambiguous"]
    """Nothing has this id, or several do."""
    message: str
    """One sentence for a person."""
    retryable: bool
    """Always false: the same id gives the same answer."""
    candidates: list[str]
    """The ids that an ambiguous prefix could mean."""


class NotFound(Reply, frozen=True, kw_only=True, tag="not_found.v1"):
    """An id that does not exist is an answer, not a failure."""

    name: str
    """What was looked for."""
    found: Literal[False]
    """Always false."""
    error: LookupFault
    """Why."""


class RemoveReport(Reply, frozen=True, kw_only=True, tag="remove_report.v1"):
    """What `rm` took out of the index; files are never touched."""

    removed: list[DocSummary]
    """The documents that went."""
    chunks: int
    """How many passages went with them."""
    returns: bool
    """Whether the next ingest brings them back, because their files are still there."""
