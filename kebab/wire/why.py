"""Why a document is among the hits of a search or not: what each stage made of it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Positive
from kebab.wire.library import DocSummary, VectorState
from kebab.wire.record import Reply
from kebab.wire.search import DegradedChannel, Lift, ModeName, Unit

Count = Annotated[int, Meta(ge=0)]
ColumnName = Literal["title", "headings", "body"]
BarrierKind = Literal["filter", "phrase", "exclusion"]
FilterName = Literal["tag", "lang", "media", "path", "source", "doc_id", "since", "until"]
FilterOrigin = Literal["request", "query"]
TermUse = Literal["asked", "absent", "common", "surplus", "filler"]
VerdictName = Literal[
    "found", "next_page", "per_doc", "copy", "kept_out", "no_text", "no_match", "too_far"
]
Withheld = Literal["per_doc", "copies"]


class TermReading(Struct, frozen=True, kw_only=True):
    """A term of the query, as the index spells it."""

    text: str
    """The term: a stem, or two letters of a script without blanks."""
    prefix: bool
    """Whether it also stands for every longer term."""
    use: TermUse
    """`asked`; or left out: `absent` occurs nowhere, `common` in most passages, `surplus` is beyond
    the most terms of a query, and a `filler` only makes a question of what is asked."""
    weight: float | None
    """What it weighs, its inverse document frequency; null when it was left out."""
    passages: Count
    """How many passages hold it."""


class PhraseReading(Struct, frozen=True, kw_only=True):
    """A phrase that is required or excluded."""

    text: str
    """The phrase as it was typed."""
    column: ColumnName | None
    """Where it is looked for; null means anywhere."""


class FilterReading(Struct, frozen=True, kw_only=True):
    """A filter that holds."""

    name: FilterName
    """Which one."""
    values: list[str]
    """Its values; dates as RFC 3339."""
    origin: FilterOrigin
    """Whether the request sets it, or the text of the query."""


class QueryReading(Struct, frozen=True, kw_only=True):
    """How the query was read."""

    plain: str
    """What is asked in words."""
    terms: list[TermReading]
    """Its terms, the heaviest first."""
    required: list[PhraseReading]
    """Phrases that every hit holds."""
    excluded: list[PhraseReading]
    """Phrases that no hit holds."""
    relaxed: bool
    """Whether required phrases were given up because no passage holds them all."""
    filters: list[FilterReading]
    """Filters, those of the text included."""
    topic: Unit
    """How far it names a topic, which its document's other passages speak for."""
    need: Unit
    """How far it tells of a need in many words, which is asked again with its best passage."""
    question: Unit
    """How far it asks for one passage, in which its words stand close together."""


class Barrier(Struct, frozen=True, kw_only=True):
    """A condition that keeps a passage out."""

    kind: BarrierKind
    """A filter that does not hold, a required phrase that is missing, or an excluded one."""
    filter: FilterName | None
    """The filter; null for a phrase."""
    phrase: PhraseReading | None
    """The phrase; null for a filter."""


class Standing(Struct, frozen=True, kw_only=True):
    """Where a passage stood after one stage."""

    rank: Positive | None
    """Its rank, 1-based; null when the stage has nothing of it."""
    score: float | None
    """Its score there."""
    candidate: bool
    """Whether it was among what the stage gave on; a rank beyond that is told but was not used."""


class HeldTerms(Struct, frozen=True, kw_only=True):
    """Which of the terms asked for a passage holds, by where they stand."""

    title: list[str]
    """In the title of its document."""
    headings: list[str]
    """In the headings that lead to it."""
    body: list[str]
    """In its text."""


class PassageAccount(Struct, frozen=True, kw_only=True):
    """What the search made of one passage."""

    chunk_id: str
    """The passage; `kebab fetch chunk ID` gives it whole."""
    heading_path: list[str]
    """The headings that lead to it."""
    citation: Citation
    """Where it stands."""
    barriers: list[Barrier]
    """What keeps it out; empty when nothing does."""
    held: HeldTerms
    """The terms that it holds."""
    vector: VectorState
    """Whether it has a vector, waits for one, or is in a script that the model does not know."""
    lexical: Standing
    """By its words; the score is bm25."""
    semantic: Standing
    """By its meaning; the score is the cosine."""
    fused: Standing
    """By both together; the score is evidence."""
    lifts: list[Lift]
    """What was then added, or taken away, by its reason."""
    final: Standing
    """After that; the score is evidence."""
    score: Unit | None
    """The final evidence, calibrated; null when it was no candidate."""
    hit_rank: Positive | None
    """Its rank among the hits of all pages; null when it is none."""
    withheld: Withheld | None
    """Why it is no hit although it was ranked: its document or its very text is shown enough."""


class Explanation(Reply, frozen=True, kw_only=True, tag="explanation.v1"):
    """Why a document is among the hits of a search, or at which stage it was lost."""

    query: str
    """The query as it was asked."""
    mode: ModeName
    """The mode that was asked for."""
    limit: Positive
    """How many hits the page holds."""
    document: DocSummary
    """The document that was asked about."""
    found: bool
    """Whether it is among the hits of the page."""
    rank: Positive | None
    """Its rank among the hits of all pages; null when it has none."""
    verdict: VerdictName
    """Where it was found or lost. `too_far` is beyond the candidates of each channel."""
    message: str
    """The verdict in a sentence."""
    hint: str | None
    """What would bring it; null when it was found."""
    reading: QueryReading
    """How the query was read."""
    lifted: list[Barrier]
    """What keeps all of the document out; `passages` tells of a search without that."""
    passages: list[PassageAccount]
    """Its best passages, up to three, the best first."""
    candidates: Count
    """How many passages were ranked in all."""
    degraded: list[DegradedChannel]
    """Channels that could not answer."""
    corpus_revision: int
    """The state of the index that answered."""
    timing_ms: float
    """How long it took."""
