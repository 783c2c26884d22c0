"""Declares related documents and duplicates as wire records."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Freshness, Positive
from kebab.wire.library import DocSummary
from kebab.wire.record import Record, Reply
from kebab.wire.search import MAX_LIMIT, DegradedChannel, FilteredRequest, Unit


class MatchedPassage(Struct, frozen=True, kw_only=True):
    """One side of a pair."""

    chunk_id: str
    """The passage; `kebab fetch chunk ID` gives it whole."""
    heading_path: list[str]
    """The headings that lead to it."""
    citation: Citation
    """Where it stands."""


class PassagePair(Struct, frozen=True, kw_only=True):
    """The two passages that match best."""

    asked: MatchedPassage
    """The passage of the document that was asked for."""
    found: MatchedPassage
    """The passage of its neighbour."""
    snippet: str
    """A stretch of the neighbour's original text."""
    highlights: list[tuple[int, int]]
    """Shared telling words as [start, end) code points of `snippet`."""
    cosine: float | None
    """The cosine of the two; null when words alone could be compared."""


class RelatedDoc(Record, frozen=True, kw_only=True, tag="related_doc.v1"):
    """One neighbour."""

    rank: Positive
    """Its place, 1-based."""
    score: Unit
    """How near it is; comparable within one response."""
    vector_score: Unit | None
    """How near it is by meaning; null when it has no vectors, or the document has none."""
    lexical_score: Unit | None
    """How near it is by telling words; null when it shares none."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    file: str | None
    """Where its file lies, absolute; null for text from standard input."""
    source: str
    """The name of its source."""
    title: str
    """Its title."""
    tags: list[str]
    """Its tags."""
    lang: str | None
    """Its language; null when unknown."""
    media: str
    """Its media type."""
    indexed_at: str
    """When it was indexed, RFC 3339."""
    freshness: Freshness
    """The file on disk against what was indexed."""
    pair: PassagePair
    """What shows best why it is a neighbour."""
    terms: list[str]
    """Telling words that both hold, as the neighbour writes them, the most telling first."""


class RelatedDocs(Reply, frozen=True, kw_only=True, tag="related_docs.v1"):
    """The neighbours of a document."""

    document: DocSummary
    """The document that was asked for."""
    related: list[RelatedDoc]
    """Its neighbours, the nearest first."""
    degraded: list[DegradedChannel]
    """Channels that could not compare."""
    corpus_revision: int
    """The state of the index that answered."""
    timing_ms: float
    """How long it took."""


class RelatedRequest(FilteredRequest, frozen=True, kw_only=True, tag="related_request.v1"):
    """Whose neighbours to find. All filters must hold for a neighbour."""

    name: str
    """An id of a document, a unique beginning of one, or a path."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 10
    """The most neighbours."""


GroupUnit = Literal["document", "passage"]


class DuplicateMember(Struct, frozen=True, kw_only=True):
    """One document or passage of a group."""

    similarity: Unit
    """How much it shares with the first member: the Jaccard index of their word triples."""
    exact: bool
    """Whether it equals the first member: a document byte for byte, a passage letter for letter."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    file: str | None
    """Where its file lies, absolute; null for text from standard input."""
    source: str
    """The name of its source."""
    title: str
    """Its title."""
    chunk_id: str | None
    """The passage; null when the whole document is a duplicate."""
    heading_path: list[str]
    """The headings that lead to the passage; empty for a document."""
    citation: Citation
    """Where it stands: of a document from its first passage to its last."""
    freshness: Freshness
    """The file on disk against what was indexed."""


class DuplicateGroup(Record, frozen=True, kw_only=True, tag="duplicate_group.v1"):
    """Members that are all like the first one."""

    unit: GroupUnit
    """What the members are."""
    kind: Literal["exact", "near"]
    """Whether all equal the first member."""
    similarity: Unit
    """The least similarity of a member to the first one."""
    snippet: str
    """How the first member begins."""
    members: list[DuplicateMember]
    """At least two, by source and path."""


class Duplicates(Reply, frozen=True, kw_only=True, tag="duplicates.v1"):
    """A page of groups: documents before passages, the most alike first."""

    threshold: Unit
    """The similarity that counted as a near copy; 1 when only exact copies did."""
    exact: bool
    """Whether only exact copies were asked for."""
    groups: list[DuplicateGroup]
    """This page. Passages that repeat only because their documents do are left out."""
    total: Annotated[int, Meta(ge=0)]
    """How many groups there are in all."""
    has_more: bool
    """Whether there are more."""
    next_cursor: str | None
    """What to ask with for the next page; null at the end."""
    compared: Annotated[int, Meta(ge=0)]
    """How many passages were compared."""
    corpus_revision: int
    """The state of the index that answered."""
    timing_ms: float
    """How long it took."""


class DupesRequest(FilteredRequest, frozen=True, kw_only=True, tag="dupes_request.v1"):
    """Which copies to find. All filters must hold for what is compared."""

    threshold: Annotated[float, Meta(ge=0.5, le=1)] = 0.7
    """The least similarity of near copies."""
    exact: bool = False
    """Only what does not differ at all; `threshold` is not used then."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 20
    """The most groups on a page."""
    cursor: str | None = None
    """`next_cursor` of the page before, for the same request."""
