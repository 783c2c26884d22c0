"""Declares search requests with their filters, and search responses, as wire records."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.coverage import Coverage
from kebab.wire.record import (
    Citation,
    Count,
    Freshness,
    Hinted,
    LineSpan,
    Positive,
    R_co,
    Record,
    Reply,
    Request,
)


class FilteredRequest(Request[R_co], frozen=True, kw_only=True):
    """A request with filters: all must hold, repeated values of one filter are alternatives."""

    tag: list[str] = msgspec.field(default_factory=list)
    """Only documents with one of these tags, or with one below it: `work/kebab` is below `work`."""
    lang: list[str] = msgspec.field(default_factory=list)
    """Only documents in one of these languages, as two-letter codes."""
    media: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these types: a media type such as `text/markdown`, or a name such as
    `markdown`, `pdf`, `docx`, `python`, `code`."""
    path_glob: str | None = None
    """Only documents whose path matches: `*` within a folder, `**` across folders, `?`, `{a,b}`. A
    pattern without a slash is the name of a file at any depth. Without wildcards it is a file or a
    folder; it may be absolute. After `!` it excludes what it matches."""
    source: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these sources: a name, the path of a folder, or its last part."""
    doc_id: str | None = None
    """Only this document: its id, a unique prefix of its id, or its path."""
    folder: str | None = None
    """Only documents below this folder, an absolute path, in any source."""
    author: list[str] = msgspec.field(default_factory=list)
    """Only documents by one of these authors: a whole name, or whole words of one."""
    property: list[str] = msgspec.field(default_factory=list)
    """Only documents with these properties, fields of front matter or of the file: `status=done`,
    `rating>=4`, `due<2024-07-01`, or a key alone for any value. Equal values of one key are
    alternatives; all other conditions must hold."""
    since: str | None = None
    """Only documents dated at or after this time: RFC 3339, `YYYY-MM-DD`, or an age like `7d`. The
    date is what the document says of itself, else the time when its file was changed."""
    until: str | None = None
    """Only documents dated before this time; same forms as `since`."""
    base: list[str] = msgspec.field(default_factory=list)
    """Only these published bases, by name; `local` is the knowledge base itself. Without it a
    search or a question reads all of them, unless `folder` is given, and any other operation only
    `local`."""


class UnmatchedFilter(Struct, frozen=True, kw_only=True):
    """A filter because of which no document can be found: alone, or with the others listed."""

    filter: str
    """The field of the request, e.g. `path_glob`."""
    value: str
    """The value that matches nothing."""
    documents: int
    """The number of documents that pass this filter alone; 0 when it is the reason by itself."""
    nearest: list[str]
    """The values that exist and are most like it, the nearest first."""


class QueryParsed(Struct, frozen=True, kw_only=True):
    """How the text of a query was read."""

    terms: list[str] = msgspec.field(default_factory=list)
    """The words that are searched for, as they are written, without stop words."""
    phrases: list[str] = msgspec.field(default_factory=list)
    """The phrases that a passage must hold; a phrase of one field is `title:phrase`."""
    excluded: list[str] = msgspec.field(default_factory=list)
    """The words and phrases that no passage may hold."""
    filters: dict[str, str | list[str]] = msgspec.field(default_factory=dict)
    """The filters that are set, from flags and from the text, by their field of the request; dates
    are RFC 3339."""


ConfidenceName = Literal["strong", "fair", "weak"]
ModeName = Literal["hybrid", "lexical", "vector"]
DetailName = Literal["ids", "snippets", "passages", "best"]
SortName = Literal["relevance", "newest", "oldest"]
Unit = Annotated[float, Meta(ge=0, le=1)]

MAX_LIMIT = 1000
MAX_QUERIES = 32
MAX_QUERY_BYTES = 1_000_000
"""The most bytes of a query in UTF-8."""


class SearchRequest(
    FilteredRequest["SearchResponse"], frozen=True, kw_only=True, tag="search_request.v1"
):
    """A query. All filters must hold; repeated values of one filter are alternatives."""

    query: str = ""
    """Plain words, `"phrases"` that must occur, `-word` to exclude, `field:word`."""
    queries: Annotated[list[str], Meta(max_length=MAX_QUERIES)] = msgspec.field(
        default_factory=list
    )
    """Further queries to answer together; with some, `query` may be left out."""
    mode: ModeName = "hybrid"
    """The channels to search."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 10
    """The maximum number of hits on a page. With several queries it is at least their number, so
    that the first page has a hit of each."""
    cursor: str | None = None
    """The `next_cursor` of the previous page of the same query, filters and, for `best`, detail."""
    per_doc: Positive | None = None
    """The maximum number of hits from one document."""
    min_confidence: ConfidenceName = "weak"
    """The least confidence of a hit."""
    detail: DetailName = "snippets"
    """The text of each hit: none (`ids`), the part around the best match (`snippets`), the whole
    passage (`passages`), or the passage of the hits that may answer (`best`): those above `weak`,
    the first of each query, what continues them, the first weak ones where few are above, and all
    code unless the first hit is strong. With `best`, hits above `weak` reach further in their
    section, up to 400 tokens, while the page has room: `max_tokens`, or 1,000 tokens."""
    snippet_chars: Annotated[int, Meta(ge=20, le=10_000)] = 240
    """The maximum length of a snippet in code points."""
    max_tokens: Positive | None = None
    """The limit of the estimated tokens of the page: the references, headings and texts of its
    hits, and the query. The first hit of every query is always sent, shortened if need be."""
    rerank: bool | None = None
    """Whether to compare the first passages with the query token by token, which takes longer;
    null means up to four passages that are close to the first, and only for questions and where
    query and passages are in different languages; with `best` up to 30, unless a hit is strong."""
    sort: SortName = "relevance"
    """What hits are ordered by: their scores, or, of those with at least half of the best score,
    the dates of their documents."""
    trace: bool = False
    """Whether to report the result of each stage."""


class Lift(Struct, frozen=True, kw_only=True):
    """A value that was added to the fused score of a passage for one reason; it may be negative."""

    reason: str
    """`context`: other passages of the document match; `closeness`: the query terms are near each
    other; `spread`: better passages of the document are ranked already; `name`: the query is the
    name of the document or a part of it; `code`: it has changed places with others by the files of
    code; `section`: it or another passage is of the section about a name of the query;
    `documents`: first passages of documents have changed places by the ranks of the
    documents; `bare`: it or another passage of the document has no text of its own, and they have
    changed places; `nearest`: on a page for agents it has changed places by meaning;
    `rerank`: it has changed places with other first passages by the comparison of tokens."""
    value: float


class Retrieval(Struct, frozen=True, kw_only=True):
    """How a hit was found. Raw scores are comparable only within one response."""

    method: ModeName
    """The channels that found it."""
    lexical_rank: int | None
    """The rank among the lexical matches, from 1; null when it is none."""
    lexical_score: float | None
    """The bm25 score, larger is better; null when it is no lexical match."""
    vector_rank: int | None
    """The rank among the nearest vectors, from 1; null when it is none."""
    vector_score: float | None
    """The cosine; null when it was not found by its vector."""
    fusion_score: float
    """The score that the ranking uses."""
    lifts: list[Lift] | UnsetType = UNSET
    """The values that were added to the fused score, with `trace`."""


Sources = Annotated[
    dict[str, str],
    Meta(
        description="The absolute folder of each source of the hits: with a slash and `doc_path` it"
        " is the file of a hit. Text from standard input and hits of a `base` have no file here."
    ),
]


class SearchHit(Record, frozen=True, kw_only=True, tag="search_hit.v1"):
    """One passage that matches the query."""

    rank: Positive
    """The rank, from 1, counted over all pages."""
    score: Unit
    """The calibrated score, comparable between queries."""
    confidence: ConfidenceName
    """How likely the hit answers the query, by its score."""
    score_kind: Literal["calibrated"]
    doc_id: str
    doc_path: str
    source: str
    base: str | UnsetType = UNSET
    """The published base that has the document; absent for the knowledge base itself. The URI of
    the citation begins with it and a colon."""
    title: str
    heading_path: list[str]
    chunk_id: str
    snippet: str
    """A part of the original text around the best match; empty unless `detail` is `snippets`."""
    highlights: list[tuple[int, int]]
    """Matches as [start, end) code points of `snippet`."""
    text: str | UnsetType = UNSET
    """The whole passage with its lines as they are in the file, with `detail` `passages` or
    `best`."""
    text_highlights: list[tuple[int, int]] | UnsetType = UNSET
    """Matches as [start, end) code points of `text`."""
    context: str | UnsetType = UNSET
    """Text from elsewhere without which the passage cannot be understood: the header row of its
    table, the signature of its function, constants that it names; absent where there is none."""
    queries: list[int] | UnsetType = UNSET
    """The queries that found it, as indexes of the `queries` of the response."""
    citation: Citation
    symbol_lines: LineSpan | UnsetType = UNSET
    """The lines of the function, class or section of code around the passage, with `detail` `best`;
    its name is the `symbol` of the citation."""
    retrieval: Retrieval
    indexed_at: str
    freshness: Freshness
    tags: list[str]
    lang: str | None
    media: str


class DegradedChannel(Hinted, frozen=True, kw_only=True):
    """A channel that was not available, or only in part."""

    channel: str
    """`vector`, `lexical`, `rerank`, `index` where it was not brought up to date, `published` for a
    published base; in a review `llm`, `related`, `document`, `files` or `lint`."""
    reason: str
    hint: str | None
    partial: bool | UnsetType = UNSET
    """True when it was searched, but not over every passage, or with a model that does not know the
    language of the query."""


class TraceStage(Struct, frozen=True, kw_only=True):
    """The result of one stage."""

    stage: str
    duration_ms: float
    candidates: int
    """The number of passages that the stage returned."""
    note: str


class LeftOut(Struct, frozen=True, kw_only=True):
    """What `max_tokens` left out of a page."""

    hits: Count
    """The number of hits; the next page begins with them."""
    tokens: Count
    """The estimated tokens of these hits, and of what was cut from shortened ones."""
    queries: list[int] | UnsetType = UNSET
    """With several queries those that found these hits, as indexes of the `queries`."""


class SearchResponse(Reply, Hinted, frozen=True, kw_only=True, tag="search_response.v1"):
    """One page of hits."""

    query: str
    """The query, unchanged; several are joined with ` | `."""
    queries: list[str] | UnsetType = UNSET
    """The queries, when the request has `queries`."""
    mode: ModeName
    hits: list[SearchHit]
    """The hits, best first."""
    sources: Sources = msgspec.field(default_factory=dict)
    has_more: bool
    next_cursor: str | None
    truncated: bool
    """Whether `max_tokens` shortened a hit or left hits out."""
    left_out: LeftOut | UnsetType = UNSET
    degraded: list[DegradedChannel]
    corpus_revision: int
    index_versions: list[str] = msgspec.field(default_factory=list)
    """The versions of the vector indexes of these hits, each once; empty without vectors."""
    chunker_versions: list[str] = msgspec.field(default_factory=list)
    """The versions of the chunkers of these hits, each once."""
    embedding_versions: list[str] = msgspec.field(default_factory=list)
    """The versions of the vectors of these hits, each once; empty when none has a vector."""
    timing_ms: float
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    hint: str | None = None
    query_parsed: QueryParsed = QueryParsed()
    absent_terms: list[str] = msgspec.field(default_factory=list)
    """Words and phrases of the query that occur nowhere in what was searched, as written."""
    unheld_terms: list[str] = msgspec.field(default_factory=list)
    """Rare words of the query that no hit of this page has, with `detail` `best` no text of one,
    although they occur in the knowledge base, as written: what is asked about them is probably not
    in these hits."""
    convincing: bool = True
    """Whether the best hit of the whole search is above `weak`."""
    convincing_queries: list[int] | UnsetType = UNSET
    """The queries whose best hit of the whole search is above `weak`, as indexes of `queries`; what
    a limit leaves out of the page counts too."""
    trace: list[TraceStage] | UnsetType = UNSET
    coverage: Coverage | None = None
    """What the index covers of what was searched; without it nothing is known to be absent."""
