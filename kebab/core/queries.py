"""Declares queries with their filters, and the hits that answer them."""

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kebab.core.chunks import ChunkId, DocId, DocNumber, Key, Place
from kebab.wire.record import VectorState

if TYPE_CHECKING:
    from kebab.wire.search import (
        ConfidenceName,
        DegradedChannel,
        DetailName,
        LeftOut,
        QueryParsed,
        Retrieval,
        SortName,
        TraceStage,
    )


COLUMN_WEIGHTS = (4.0, 2.5, 1.0)
"""The bm25 weights of title, headings and body.

Page hit@1 on the Korean Kubernetes pages: .561 with even weights, .595 with these. On SQuAD 2,
JaQuAD and Cranfield anything from (1, 1, 1) to (10, 5, 1) stays within .01.
"""


class Mode(StrEnum):
    """The channels of a search."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions on documents: all must hold, and repeated values of one are alternatives.

    A value of a repeated one that begins with `!` is one that no document may have.

    Of properties, only the equal values of one key are alternatives (`kebab.text.filters`).

    `since` (inclusive) and `until` (exclusive) bound the document's date, or the modification time
    of a file without one, in seconds since the epoch. `path_glob` uses `*` (within a folder), `**`
    and `?`. `folder` is an absolute path.
    """

    tag: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    path_glob: str | None = None
    source: tuple[str, ...] = ()
    doc_id: str | None = None
    folder: str | None = None
    author: tuple[str, ...] = ()
    property: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None

    @builtins.property  # a field has this name
    def is_active(self) -> bool:
        """Whether any condition is set."""
        return bool(self.list_active())

    def list_active(self) -> dict[str, Any]:
        """Return the conditions that are set, by name."""
        given = {name: getattr(self, name) for name in FILTERS}
        return {name: value for name, value in given.items() if value not in (None, ())}


class FilterRow(NamedTuple):
    """A filter: its flag, whether it can be repeated, and which values are offered instead.

    `nearest` names what a value that no document passes is compared with.
    """

    flag: str
    repeats: bool = False
    nearest: Literal["values", "globs", "paths", "sources", "days"] = "values"


FILTERS: dict[str, FilterRow] = {
    "tag": FilterRow("--tag", repeats=True),
    "lang": FilterRow("--lang", repeats=True),
    "media": FilterRow("--type", repeats=True),
    "path_glob": FilterRow("--path", nearest="globs"),
    "source": FilterRow("--source", repeats=True, nearest="sources"),
    "doc_id": FilterRow("--doc-id", nearest="paths"),
    "folder": FilterRow("--in", nearest="sources"),
    "author": FilterRow("--author", repeats=True),
    "property": FilterRow("--property", repeats=True),
    "since": FilterRow("--since", nearest="days"),
    "until": FilterRow("--until", nearest="days"),
}
"""Every filter by its field of requests and of `Filters`. A new one also needs its condition in
`store/sqlite/fts.py` and its flag in `cli/options.py`; `tests/shape/test_registries.py` names what
is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search; in `prose` text, quotation marks are the only operator.

    The queries of `more` are answered together with `text`. `per_doc` is the most hits of one
    document, and `max_tokens` the longest page. `rerank` None means that passages are reranked
    where they are in another language than the query. `sort` orders the best hits.
    `trace` asks for the stages and the boosts.
    """

    text: str
    more: tuple[str, ...] = ()
    prose: bool = False
    mode: Mode = Mode.HYBRID
    limit: int = 10
    offset: int = 0
    filters: Filters = field(default_factory=Filters)
    per_doc: int | None = None
    min_confidence: "ConfidenceName" = "weak"
    detail: "DetailName" = "snippets"
    snippet_chars: int = 240
    max_tokens: int | None = None
    rerank: bool | None = None
    sort: "SortName" = "relevance"
    trace: bool = False

    @property
    def page_size(self) -> int:
        """The number of hits on a page, so many that the first page holds one for each query."""
        return max(self.limit, 1 + len(self.more))


class StoredChunk(NamedTuple):
    """A stored chunk, with the fields of its document that a hit shows.

    `key` is its number in both stores, and `chunk_id` its public id. `path` is below the folder
    `root` of the `source`. `context` is text from elsewhere that is embedded with it, such as the
    header of its table. `place` is its page, slide, cell or rows, None where lines are cited.
    `base` is the published base that has it, None for the knowledge base itself. `moment_ns` is the
    date of its document, else the time when its file was changed, in nanoseconds since the epoch.
    """

    key: Key
    chunk_id: ChunkId
    doc_id: DocId
    ordinal: int
    text: str
    start_line: int
    end_line: int
    heading_path: tuple[str, ...]
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
    chunker_version: str
    embedding_version: str | None
    vector_state: VectorState = "pending"
    context: str = ""
    place: Place | None = None
    base: str | None = None
    moment_ns: int = 0


class NamedDocument(NamedTuple):
    """A document that may be called by its name, with its first chunk."""

    number: DocNumber
    first: Key
    path: str
    title: str
    aliases: tuple[str, ...]


class Snippet(NamedTuple):
    """A chunk's text or a part of it; highlights are [start, end) code points of `text`."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


class Hit(NamedTuple):
    """One result of a search."""

    rank: int
    score: float
    confidence: "ConfidenceName"
    chunk: StoredChunk
    snippet: Snippet
    retrieval: "Retrieval"
    queries: tuple[int, ...] = (0,)
    """The indexes of the queries that found it."""
    symbol: tuple[int, int] | None = None
    """The first and the last line of the function or class around it, where they are known."""


class Page(NamedTuple):
    """One page of a search: the hits in order, and facts about the search."""

    hits: tuple[Hit, ...]
    has_more: bool
    next_offset: int | None
    left_out: "LeftOut | None"
    """What the token budget left out."""
    degraded: "tuple[DegradedChannel, ...]"
    revision: int
    timing_ms: float
    stages: "tuple[TraceStage, ...]" = ()
    term_rarities: Mapping[str, float] = {}
    """The rarity of every term of the query in the library, also of terms that occur nowhere."""
    answerability: float = 0.0
    """The probability that the first hit of the whole search is one."""
    filters: tuple[Filters, ...] = ()
    """The conditions that each query was searched with, also those in its text."""
    query_parsed: "QueryParsed | None" = None
    """How the query was read."""
    absent_terms: tuple[str, ...] = ()
    """Words and phrases of the query that occur nowhere in what was searched, as written."""
    unheld_terms: tuple[str, ...] = ()
    """Rare words of the query that other passages hold, but no hit of this page, as written."""
    omitted_terms: Mapping[str, list[str]] = {}
    """What the text is in which words of the query are that no passage has."""
    convincing: bool = True
    """Whether the best hit of the whole search is above `weak`."""
    convincing_queries: tuple[int, ...] = ()
    """The indexes of the queries whose best hit of the whole search is above `weak`."""
