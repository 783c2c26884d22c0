"""Declares related documents, duplicates, ranked lines and explained searches as wire records."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Count, Freshness, Positive
from kebab.wire.library import DocLink, DocSummary
from kebab.wire.record import NotFound, Record, Reply
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    FilteredRequest,
    Unit,
    UnmatchedFilter,
)


class MatchedPassage(Struct, frozen=True, kw_only=True):
    """One passage of a pair."""

    chunk_id: str
    """The id of the passage; `kebab fetch ID` returns its whole text."""
    heading_path: list[str]
    """The headings that lead to the passage."""
    citation: Citation
    """The place of the passage in the file."""


class PassagePair(Struct, frozen=True, kw_only=True):
    """The two most similar passages of two documents."""

    asked: MatchedPassage
    """The passage of the given document."""
    found: MatchedPassage
    """The passage of the related document."""
    snippet: str
    """A part of the original text of the related document."""
    highlights: list[tuple[int, int]]
    """Shared keywords as [start, end) code points of `snippet`."""
    cosine: float | None
    """The cosine of both passages; null when only words could be compared."""


class RelatedDoc(Record, frozen=True, kw_only=True, tag="related_doc.v1"):
    """One related document."""

    rank: Positive
    """The rank, from 1."""
    score: Unit
    """The similarity; comparable within one response."""
    vector_score: Unit | None
    """The similarity by vectors; null when one of the documents has none."""
    lexical_score: Unit | None
    """The similarity by keywords; null when the documents share none."""
    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source, exactly as on disk."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    source: str
    """The name of the source."""
    title: str
    """The title of the document."""
    tags: list[str]
    """The tags of the document."""
    lang: str | None
    """The language of the document; null when unknown."""
    media: str
    """The media type of the document."""
    indexed_at: str
    """The time when it was indexed, RFC 3339."""
    freshness: Freshness
    """How the file on disk compares with what was indexed."""
    pair: PassagePair
    """The most similar passages."""


class RelatedDocs(Reply, frozen=True, kw_only=True, tag="related_docs.v1"):
    """The documents that are most similar to a document."""

    document: DocSummary
    """The given document."""
    related: list[RelatedDoc]
    """The related documents, the most similar first."""
    degraded: list[DegradedChannel]
    """The channels that were not available."""
    corpus_revision: int
    """The revision of the index."""
    timing_ms: float
    """The duration of the comparison."""
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    """The filters that no document passes, alone or together; empty when there are documents."""
    links: list[DocLink] = msgspec.field(default_factory=list)
    """The links of the given document to other files."""
    backlinks: list[DocLink] = msgspec.field(default_factory=list)
    """The documents that link to the given document."""


class RelatedRequest(
    FilteredRequest[RelatedDocs | NotFound], frozen=True, kw_only=True, tag="related_request.v1"
):
    """The document to compare. All filters must hold for a related document."""

    name: str
    """An id of a document, a unique prefix of one, or a path."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 10
    """The maximum number of related documents."""


GroupUnit = Literal["document", "passage"]


class DuplicateMember(Struct, frozen=True, kw_only=True):
    """One document or passage of a group."""

    similarity: Unit
    """The similarity to the first member: the Jaccard index of their word triples."""
    exact: bool
    """Whether it equals the first member in every byte (document) or character (passage)."""
    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source, exactly as on disk."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    source: str
    """The name of the source."""
    title: str
    """The title of the document."""
    chunk_id: str | None
    """The id of the passage; null when the whole document is a duplicate."""
    heading_path: list[str]
    """The headings that lead to the passage; empty for a document."""
    citation: Citation
    """The place in the file; for a document from its first passage to its last."""
    freshness: Freshness
    """How the file on disk compares with what was indexed."""


class DuplicateGroup(Record, frozen=True, kw_only=True, tag="duplicate_group.v1"):
    """Documents or passages that are similar to the first one."""

    unit: GroupUnit
    """Whether the members are documents or passages."""
    kind: Literal["exact", "near"]
    """Whether all members equal the first one."""
    similarity: Unit
    """The lowest similarity of a member to the first one."""
    snippet: str
    """The beginning of the first member."""
    members: list[DuplicateMember]
    """At least two members, ordered by source and path."""


class Duplicates(Reply, frozen=True, kw_only=True, tag="duplicates.v1"):
    """Groups of copies: documents before passages, the most similar first."""

    threshold: Unit
    """The lowest similarity of near copies; 1 when only exact copies were requested."""
    exact: bool
    """Whether only exact copies were requested."""
    groups: list[DuplicateGroup]
    """The first groups, without passages that repeat because their documents do."""
    total: Count
    """The number of all groups."""
    has_more: bool
    """Whether `limit` left out groups."""
    compared: Count
    """The number of compared passages."""
    corpus_revision: int
    """The revision of the index."""
    timing_ms: float
    """The duration of the comparison."""


class DupesRequest(
    FilteredRequest["Duplicates"], frozen=True, kw_only=True, tag="dupes_request.v1"
):
    """The copies to find. All filters must hold for what is compared."""

    threshold: Annotated[float, Meta(ge=0.5, le=1)] = 0.7
    """The lowest similarity of near copies."""
    exact: bool = False
    """Whether to find only exact copies; `threshold` is ignored then."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 20
    """The maximum number of groups."""
