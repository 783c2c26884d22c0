"""The neighbours of a document, each with the passages that show why."""

from typing import Annotated

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
