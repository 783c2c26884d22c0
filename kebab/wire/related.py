"""Declares related documents, duplicates, ranked lines and explained searches as wire records."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Count, Freshness, Positive
from kebab.wire.coverage import Coverage
from kebab.wire.library import DocLink, DocSummary, VectorState
from kebab.wire.record import Hinted, LookupRequest, NotFound, Record, Reply, Request
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    FilteredRequest,
    Lift,
    ModeName,
    SearchRequest,
    Unit,
    UnmatchedFilter,
)


class MatchedPassage(Struct, frozen=True, kw_only=True):
    """One passage of a pair."""

    chunk_id: str
    """The id of the passage; `kebab fetch chunk ID` returns its whole text."""
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
    terms: list[str]
    """Shared keywords as the related document writes them, the most specific first."""


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
    """A page of groups: documents before passages, the most similar first."""

    threshold: Unit
    """The lowest similarity of near copies; 1 when only exact copies were requested."""
    exact: bool
    """Whether only exact copies were requested."""
    groups: list[DuplicateGroup]
    """The groups of this page, without passages that repeat because their documents do."""
    total: Count
    """The number of all groups."""
    has_more: bool
    """Whether there are further groups."""
    next_cursor: str | None
    """The cursor of the next page; null at the end."""
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
    """The maximum number of groups on a page."""
    cursor: str | None = None
    """The `next_cursor` of the previous page, for the same request."""


RankModeName = Literal["hybrid", "lexical"]


class RankedItem(Struct, frozen=True, kw_only=True):
    """One line in its rank."""

    rank: Positive
    """The rank, from 1."""
    score: Unit
    """How well the line fits, comparable only within one result."""
    index: Count
    """The number of the line in the input, from 0; empty lines count."""
    text: str
    """The text that was compared, without the place that ripgrep puts before it."""
    path: str | None
    """The path before the text, as ripgrep prints it; null without one."""
    line: int | None
    """The line number before the text; null without one."""
    item: dict[str, Any] | None
    """The object of a line of JSON, unchanged; null for a line of text."""


class RankResult(Reply, frozen=True, kw_only=True, tag="rank_result.v1"):
    """Lines, the one that fits the query best first."""

    query: str
    """The query."""
    mode: RankModeName
    """The requested mode."""
    items: list[RankedItem]
    """The lines, best first."""
    total: int
    """The number of all lines that were compared."""
    has_more: bool
    """Whether `limit` left out lines."""
    embedding_version: str | None
    """The model that compared meanings; null when only words were compared."""
    degraded: list[DegradedChannel]
    """Why meanings were not compared, or not those of every line."""
    timing_ms: float
    """The duration."""
    coverage: Coverage | None = None
    """What the index covers, of which the lines need nothing; null without an index."""


class RankRequest(Request["RankResult"], frozen=True, kw_only=True, tag="rank_request.v1"):
    """Lines to order by a query, without an index."""

    query: str
    """A question or words."""
    lines: list[str] = msgspec.field(default_factory=list)
    """Lines of text, with or without `path:line:` before them, or JSON objects with a text."""
    mode: RankModeName = "hybrid"
    """Whether to compare meanings too, or words only."""
    limit: Annotated[int, Meta(ge=1)] | None = None
    """The maximum number of lines to return; null means all."""


ColumnName = Literal["title", "headings", "body"]
BarrierKind = Literal["filter", "phrase", "exclusion"]
FilterName = Literal[
    "tag",
    "lang",
    "media",
    "path",
    "source",
    "doc_id",
    "folder",
    "author",
    "links_to",
    "since",
    "until",
]
FilterOrigin = Literal["request", "query"]
TermUse = Literal["asked", "absent", "common", "surplus", "filler"]
VerdictName = Literal[
    "found",
    "next_page",
    "per_doc",
    "confidence",
    "copy",
    "kept_out",
    "no_text",
    "no_match",
    "too_far",
]
Withheld = Literal["per_doc", "confidence", "copies"]


class TermReading(Struct, frozen=True, kw_only=True):
    """A term of the query, as the index stores it."""

    text: str
    """The term: a stem, or two letters of a script without spaces."""
    prefix: bool
    """Whether it also matches every longer term."""
    use: TermUse
    """`asked`; or left out: `absent` occurs nowhere, `common` in most passages, `surplus` is beyond
    the maximum number of terms, and a `filler` only marks a question."""
    weight: float | None
    """The weight, its inverse document frequency; null when it was left out."""
    passages: Count
    """The number of passages that contain it."""


class PhraseReading(Struct, frozen=True, kw_only=True):
    """A phrase that is required or excluded."""

    text: str
    """The phrase, unchanged."""
    column: ColumnName | None
    """The field that must contain it; null means any."""


class FilterReading(Struct, frozen=True, kw_only=True):
    """A filter that applies."""

    name: FilterName
    """The name of the filter."""
    values: list[str]
    """The values; dates as RFC 3339."""
    origin: FilterOrigin
    """Whether the request or the text of the query sets it."""


class QueryReading(Struct, frozen=True, kw_only=True):
    """How the query was parsed."""

    plain: str
    """The plain words of the query."""
    terms: list[TermReading]
    """The terms, the heaviest first."""
    required: list[PhraseReading]
    """The phrases that every hit contains."""
    excluded: list[PhraseReading]
    """The phrases that no hit contains."""
    relaxed: bool
    """Whether required phrases were dropped because no passage contains all of them."""
    filters: list[FilterReading]
    """The filters, including those in the text of the query."""
    topic: Unit
    """How much the query names a topic, for which other passages of a document count too."""
    need: Unit
    """How much the query describes a need in many words, which is searched again with its best
    passage."""
    question: Unit
    """How much the query asks for one passage, in which its words are close together."""


class Barrier(Struct, frozen=True, kw_only=True):
    """A condition that excludes a passage."""

    kind: BarrierKind
    """A filter that does not hold, a required phrase that is missing, or an excluded phrase."""
    filter: FilterName | None
    """The filter; null for a phrase."""
    phrase: PhraseReading | None
    """The phrase; null for a filter."""


class Standing(Struct, frozen=True, kw_only=True):
    """The position of a passage after one stage."""

    rank: Positive | None
    """The rank, from 1; null when the stage did not find the passage."""
    score: float | None
    """The score of the stage."""
    candidate: bool
    """Whether the stage returned the passage; a rank beyond its limit is reported but not used."""


class HeldTerms(Struct, frozen=True, kw_only=True):
    """The terms of the query that a passage contains, by field."""

    title: list[str]
    """The terms in the title of the document."""
    headings: list[str]
    """The terms in the headings that lead to the passage."""
    body: list[str]
    """The terms in the text."""


class PassageAccount(MatchedPassage, frozen=True, kw_only=True):
    """The result of each stage for one passage."""

    barriers: list[Barrier]
    """The conditions that exclude it; empty when none does."""
    held: HeldTerms
    """The terms that it contains."""
    vector: VectorState
    """Whether it has a vector, waits for one, or is in a script unknown to the model."""
    lexical: Standing
    """The lexical stage; the score is bm25."""
    semantic: Standing
    """The vector stage; the score is the cosine."""
    fused: Standing
    """The fusion of both stages."""
    lifts: list[Lift]
    """The values that were added to the fused score, by reason."""
    final: Standing
    """The final position; the score includes the added values."""
    score: Unit | None
    """The calibrated final score; null when it was no candidate."""
    hit_rank: Positive | None
    """The rank among the hits of all pages; null when it is no hit."""
    withheld: Withheld | None
    """Why a ranked passage is no hit: its document has enough hits, its confidence is below the
    requested one, or it is a copy of a hit."""


class Explanation(Reply, Hinted, frozen=True, kw_only=True, tag="explanation.v1"):
    """Why a document is among the hits of a search, or at which stage the search lost it."""

    query: str
    """The query, unchanged."""
    mode: ModeName
    """The requested mode."""
    limit: Positive
    """The maximum number of hits on the page."""
    document: DocSummary
    """The given document."""
    found: bool
    """Whether it is among the hits of the page."""
    rank: Positive | None
    """The rank among the hits of all pages; null without one."""
    verdict: VerdictName
    """The stage that found or lost it. `too_far` means beyond the candidates of each channel."""
    message: str
    """The verdict in one sentence."""
    hint: str | None
    """The command that would find it; null when it was found."""
    reading: QueryReading
    """How the query was parsed."""
    lifted: list[Barrier]
    """The conditions that exclude the whole document; `passages` ignores them."""
    passages: list[PassageAccount]
    """The best passages of the document, up to three, the best first."""
    candidates: Count
    """The number of ranked passages."""
    degraded: list[DegradedChannel]
    """The channels that were not available."""
    corpus_revision: int
    """The revision of the index."""
    timing_ms: float
    """The duration of the search."""


class WhyRequest(LookupRequest["Explanation"], frozen=True, kw_only=True, tag="why_request.v1"):
    """The document or passage to explain, and the search."""

    name: str
    """An id of a document or a passage, a unique prefix of one, or a path."""
    search: SearchRequest
    """The search."""
