"""Searching: the request, the page of hits, and the frames of bulk and stream."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.citation import Citation, Freshness, Positive
from kebab.wire.error import ErrorReply
from kebab.wire.record import Record, Reply, Request

ConfidenceName = Literal["strong", "fair", "weak"]
ModeName = Literal["hybrid", "lexical", "vector"]
Unit = Annotated[float, Meta(ge=0, le=1)]

MAX_LIMIT = 1000


class FilteredRequest(Request, frozen=True, kw_only=True):
    """A request about some documents: all filters must hold, repeated values are alternatives."""

    tag: list[str] = msgspec.field(default_factory=list)
    """Only documents with one of these tags."""
    lang: list[str] = msgspec.field(default_factory=list)
    """Only documents in one of these languages, as two-letter codes."""
    media: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these media types, e.g. `text/markdown` or `markdown`."""
    path_glob: str | None = None
    """Only documents whose path matches: `*` within a folder, `**` across folders, `?`."""
    source: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these sources, by name."""
    doc_id: str | None = None
    """Only this document."""
    since: str | None = None
    """Only files changed at or after this date, RFC 3339, `YYYY-MM-DD`, or an age like `7d`."""
    until: str | None = None
    """Only files changed before this date; same forms as `since`."""


class SearchRequest(FilteredRequest, frozen=True, kw_only=True, tag="search_request.v1"):
    """What to search for. All filters must hold; repeated values of one filter are alternatives."""

    query: str
    """Plain words, `"phrases"`, `-word` to leave out, `field:word`."""
    mode: ModeName = "hybrid"
    """Which channels answer."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 10
    """The most hits on a page."""
    cursor: str | None = None
    """`next_cursor` of the page before, for the same query and filters."""
    per_doc: Positive | None = None
    """The most hits of one document."""
    snippet_chars: Annotated[int, Meta(ge=20, le=10_000)] = 240
    """The most code points of a snippet."""
    max_tokens: Positive | None = None
    """A bound on the estimated tokens of all hits; never exceeded."""
    trace: bool = False
    """Whether to report what each stage did."""


class Lift(Struct, frozen=True, kw_only=True):
    """What was added to the fused evidence of a passage, or taken away, for one reason."""

    reason: str
    """`context`: the rest of its document; `closeness`: its words stand near each other; `spread`:
    better passages of its document are there already."""
    value: float
    """How much."""


class Retrieval(Struct, frozen=True, kw_only=True):
    """How a hit was found. Raw scores compare only within one response."""

    method: ModeName
    """The channels that found it."""
    lexical_rank: int | None
    """Its rank among the words' matches, 1-based."""
    lexical_score: float | None
    """Its bm25, larger is better."""
    vector_rank: int | None
    """Its rank among the vectors, 1-based."""
    vector_score: float | None
    """Its cosine."""
    fusion_score: float
    """What the ranking is by."""
    lifts: list[Lift] | UnsetType = UNSET
    """What that has beside the evidence of the channels, with `trace`."""


class SearchHit(Record, frozen=True, kw_only=True, tag="search_hit.v1"):
    """One passage that answers."""

    rank: Positive
    """Its place, 1-based, counted over all pages."""
    score: Unit
    """Calibrated evidence, comparable between queries."""
    confidence: ConfidenceName
    """How far the score can be trusted to mean an answer."""
    score_kind: Literal["calibrated"]
    """What `score` is."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    file: str | None = None
    """Where its file lies, absolute; null for text from standard input."""
    source: str
    """The name of its source."""
    title: str
    """Its title."""
    heading_path: list[str]
    """The headings that lead to the passage."""
    chunk_id: str
    """The passage; `kebab fetch chunk ID` gives it whole."""
    snippet: str
    """A stretch of the original text around the best match."""
    highlights: list[tuple[int, int]]
    """Matches as [start, end) code points of `snippet`."""
    citation: Citation
    """Where it stands."""
    retrieval: Retrieval
    """How it was found."""
    indexed_at: str
    """When the document was indexed, RFC 3339."""
    freshness: Freshness
    """The file on disk against what was indexed."""
    tags: list[str]
    """The document's tags."""
    lang: str | None
    """The document's language; null when unknown."""
    media: str
    """The document's media type."""
    index_version: str
    """How vectors are searched."""
    chunker_version: str
    """What cut the passage."""
    embedding_version: str | None
    """What embedded the passage; null when it has no vector."""


class DegradedChannel(Struct, frozen=True, kw_only=True):
    """A channel that could not answer."""

    channel: str
    """`vector` or `lexical`."""
    reason: str
    """Why."""
    hint: str | None
    """What would bring it back."""


class TraceStage(Struct, frozen=True, kw_only=True):
    """What one stage did."""

    stage: str
    """Its name."""
    duration_ms: float
    """What it cost."""
    candidates: int
    """How many passages it gave on."""
    note: str
    """What else is worth knowing."""


class SearchResponse(Reply, frozen=True, kw_only=True, tag="search_response.v1"):
    """One page of hits."""

    query: str
    """The query as it was asked."""
    mode: ModeName
    """The mode that was asked for."""
    hits: list[SearchHit]
    """The hits, best first."""
    has_more: bool
    """Whether there are more."""
    next_cursor: str | None
    """What to ask with for the next page; null at the end."""
    truncated: bool
    """Whether `max_tokens` shortened snippets or dropped hits."""
    degraded: list[DegradedChannel]
    """Channels that could not answer."""
    corpus_revision: int
    """The state of the index that answered."""
    timing_ms: float
    """How long the search took."""
    trace: list[TraceStage] | UnsetType = UNSET
    """What each stage did, when asked for."""


class BulkSearchItem(Reply, frozen=True, kw_only=True, tag="bulk_search_item.v1"):
    """The answer to one line of a bulk search: exactly one of `response` and `error`."""

    index: Annotated[int, Meta(ge=0)]
    """The input line, 0-based; empty lines do not count."""
    query: str | None
    """The query; null when the line could not be read."""
    response: SearchResponse | UnsetType = UNSET
    """The page."""
    error: ErrorReply | UnsetType = UNSET
    """Why there is none."""


class EventData(Struct, frozen=True, kw_only=True):
    """What an event carries: the members that its type names, and no others."""

    stage: str | UnsetType = UNSET
    """`stage`: what begins."""
    items: list[SearchHit] | UnsetType = UNSET
    """`items`: hits, in order."""
    elapsed_ms: float | UnsetType = UNSET
    """`progress`, `complete`: how long the work has taken."""
    hit_count: int | UnsetType = UNSET
    """`complete`: how many hits were sent."""
    has_more: bool | UnsetType = UNSET
    """`complete`: whether there are more."""
    next_cursor: str | UnsetType | None = UNSET
    """`complete`: what to ask with for the next page."""
    truncated: bool | UnsetType = UNSET
    """`complete`: whether `max_tokens` shortened the page."""
    degraded: list[DegradedChannel] | UnsetType = UNSET
    """`complete`: channels that could not answer."""
    corpus_revision: int | UnsetType = UNSET
    """`complete`: the state of the index that answered."""
    error: ErrorReply | UnsetType = UNSET
    """`error`: what went wrong."""


class SearchEvent(Reply, frozen=True, kw_only=True, tag="search_event.v1"):
    """One frame of `search --stream`; a reader skips types that it does not know."""

    type: Literal["stage", "items", "progress", "complete", "error", "end"]
    """What this frame is: `complete` ends the work and `end` the transmission."""
    data: EventData
    """What it carries."""
