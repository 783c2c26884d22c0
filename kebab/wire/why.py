"""Declares the explanation of a search result as wire records."""

from typing import Literal

from msgspec import Struct

from kebab.wire.citation import Count, Positive
from kebab.wire.library import DocSummary, VectorState
from kebab.wire.record import Hinted, Reply, Request
from kebab.wire.related import MatchedPassage
from kebab.wire.search import DegradedChannel, Lift, ModeName, SearchRequest, Unit

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


class WhyRequest(Request, frozen=True, kw_only=True, tag="why_request.v1"):
    """The document or passage to explain, and the search."""

    name: str
    """An id of a document or a passage, a unique prefix of one, or a path."""
    search: SearchRequest
    """The search."""
