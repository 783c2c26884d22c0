"""Declares questions, answers, answer events and sessions as wire records."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.errors.catalog import StopName
from kebab.wire.coverage import Coverage
from kebab.wire.error import ErrorReply
from kebab.wire.record import (
    Citation,
    FinishName,
    Freshness,
    LookupRequest,
    Positive,
    Record,
    Reply,
    Request,
)
from kebab.wire.search import (
    DegradedChannel,
    FilteredRequest,
    ModeName,
    SearchHit,
    Sources,
    Unit,
    UnmatchedFilter,
)

MAX_PASSAGES = 100

RefusalName = Literal[
    "no_chunks",
    "score_gate",
    "llm_self_judge",
    "unsupported_claims",
    "llm_stream_aborted",
    "empty_answer",
]
DoubtCode = Literal[
    "absent_term",
    "name_not_cited",
    "name_not_found",
    "names_not_together",
    "number_not_cited",
    "number_not_found",
    "negation_not_cited",
    "term_not_cited",
    "term_not_found",
    "question_repeated",
]
"""The codes of the warnings that say why an answer is uncertain."""

AnswerModeName = Literal["generative", "extractive"]


class AskRequest(FilteredRequest["Answer"], frozen=True, kw_only=True, tag="ask_request.v1"):
    """A question. All filters must hold; repeated values of one filter are alternatives."""

    question: str
    """The question, in any language."""
    session: str | None = None
    """The session to continue or to start; follow-up questions refer to its turns."""
    extractive: bool = False
    """Whether to answer with sentences of the notes, without a language model."""
    model: str | None = None
    """The language model that answers; null means the model of the settings."""
    mode: ModeName = "hybrid"
    """The channels that search for passages."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PASSAGES)] = 8
    """The maximum number of passages that the answer is based on."""
    rerank: bool | None = None
    """Whether to compare the first passages with the question token by token; null means
    unless words alone are searched."""


class AnswerCitation(Struct, frozen=True, kw_only=True):
    """A quotation from a file that supports a part of the answer."""

    marker: Positive
    """The number that the answer shows as `[n]`."""
    citation: Citation
    doc_id: str
    doc_path: str
    base: str | UnsetType = UNSET
    """The published base that has the document; absent for the knowledge base itself. The URI of
    the citation begins with it and a colon."""
    file: str | None = None
    title: str
    heading_path: list[str]
    chunk_id: str
    quote: str
    """The quoted text, verbatim, from the cited lines."""
    spans: list[tuple[int, int]]
    """The parts of `answer` that the quotation supports, as [start, end) code points."""
    freshness: Freshness


class AnswerRetrieval(Struct, frozen=True, kw_only=True):
    """The search that came before the answer."""

    trace_id: str
    query: str
    """The text that was searched for: the question, rewritten so that it needs no earlier turn."""
    mode: ModeName
    limit: int
    """The number of passages that was asked for."""
    chunks_returned: int
    """The number of passages that were found."""
    chunks_used: int
    """The number of passages that the answer is based on."""
    top_score: Unit
    """The calibrated score that was compared with `score_gate`; 0 when nothing was found."""
    score_gate: Unit
    """The lowest score at which a question is answered."""
    degraded: list[DegradedChannel]
    corpus_revision: int
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)


class AnswerUsage(Struct, frozen=True, kw_only=True):
    """The cost of the answer."""

    prompt_tokens: int | None
    """The tokens of the prompt, as the server counts them; null when it gives no count."""
    completion_tokens: int | None
    """The tokens of the answer and of the thoughts before it, as the server counts them; null when
    it gives no count."""
    latency_ms: float
    """The time from the question to the complete answer."""
    first_token_ms: float | None
    """The time from the request to the first token of the model; null without a model."""
    finish_reason: FinishName | None
    """The reason why the model stopped, as its server says; null when it says nothing."""
    truncated: bool
    """Whether the answer is not whole, which a warning explains."""
    downshifts: int
    """How often the model was asked again with fewer passages."""


class AnswerWarning(Struct, frozen=True, kw_only=True):
    """A warning about the answer."""

    code: str
    """The kind of warning, for programs; new kinds may be added."""
    message: str
    marker: int | None
    """The citation that the warning is about; null when it is about none."""
    span: tuple[int, int] | None
    """The part of `answer` that the warning is about, as [start, end) code points."""


class Answer(Reply, frozen=True, kw_only=True, tag="answer.v1"):
    """An answer with a citation for each of its claims, or a refusal."""

    question: str
    answer: str
    """Markdown in which `[n]` follows a cited claim; for a refusal, a sentence that says so."""
    grounded: bool
    """Whether this is an answer; false for every refusal."""
    refusal_reason: RefusalName | None
    answers_question: Literal["likely", "uncertain", "no"] = "likely"
    """Whether the answer is about what was asked: `uncertain` when the cited passages may be about
    something else, which `warnings` explains; `no` for every refusal."""
    absent_terms: list[str] = msgspec.field(default_factory=list)
    """The words of the question that occur nowhere in the notes, as a search says it."""
    citations: list[AnswerCitation]
    """The citations, ordered by marker; one marker may have several."""
    suggestions: list[SearchHit]
    """For a refusal, the nearest passages; otherwise empty."""
    sources: Sources = msgspec.field(default_factory=dict)
    mode: AnswerModeName
    """Whether a language model wrote the answer, or sentences of the notes form it."""
    model: str | None
    """The name of the model; null without one."""
    embedding: str | None
    """The embedding version of the passages; null when no vector was searched."""
    prompt_template_version: str | None
    """The version of the prompt; null without a model."""
    retrieval: AnswerRetrieval
    usage: AnswerUsage
    warnings: list[AnswerWarning]
    session_id: str | None
    """The session; null when the question belongs to none."""
    turn_index: int | None
    """The position of this question in its session, from 0; null when it was not stored."""
    created_at: str
    stop_reason: StopName = "completed"
    """Why writing ended: `cancelled` by the person, `max_tokens` at the limit of an answer."""
    cancel_observed: bool = False
    coverage: Coverage | None = None
    """What the index covers of the searched sources; without it nothing is known to be absent."""


class AnswerEvent(Reply, frozen=True, kw_only=True, tag="answer_event.v1"):
    """One line of `ask --stream`; a reader skips types that it does not know.

    `retrieval_done` comes first, then `token`s, then exactly one `final` or `error`. `restart`
    withdraws all tokens so far; `waiting` says what the model server has to do first; `heartbeat`
    says that the model is still working.
    """

    type: Literal["retrieval_done", "token", "restart", "waiting", "heartbeat", "final", "error"]
    hits: list[SearchHit] | UnsetType = UNSET
    """`retrieval_done`: the hits, best first."""
    sources: Sources | UnsetType = UNSET
    delta: str | UnsetType = UNSET
    """`token`: the next piece of the answer as the model wrote it, not yet checked."""
    reason: str | UnsetType = UNSET
    """`restart`: the reason why the model is asked again with fewer passages; `waiting`: the reason
    why nothing is asked yet."""
    elapsed_ms: float | UnsetType = UNSET
    """`heartbeat`: the time since the question."""
    answer: Answer | UnsetType = UNSET
    """`final`: the complete answer."""
    error: ErrorReply | UnsetType = UNSET
    """`error`: the reason why there is no answer."""


class SessionSummary(Record, frozen=True, kw_only=True, tag="session_summary.v1"):
    """One session of a list."""

    name: str
    turns: int
    answered: int
    """The number of turns with an answer; the others are refusals."""
    stopped: int
    """The number of turns whose answer is not whole, by `stop_reason`."""
    folder: str | None
    """The working folder of the newest turn; null for one that was asked through a server."""
    first_question: str
    """The question of the oldest stored turn."""
    created_at: str
    """The time of the oldest stored turn, RFC 3339."""
    updated_at: str
    """The time of the newest turn, RFC 3339."""


class SessionList(Reply, frozen=True, kw_only=True, tag="session_list.v1"):
    """Every session, the most recently used first."""

    sessions: list[SessionSummary]
    history: bool
    """Whether the settings let turns be stored."""


class SessionTurn(Struct, frozen=True, kw_only=True):
    """One question of a session with its answer."""

    turn_index: int
    """The position of the turn in the session, from 0."""
    question: str
    query: str
    """The text that was searched for: the question, rewritten so that it needs no earlier turn."""
    answer: str
    """The answer, or the sentence of the refusal."""
    refusal_reason: RefusalName | None
    mode: AnswerModeName
    model: str | None
    """The name of the model; null without one."""
    created_at: str
    stop_reason: StopName = "completed"
    cancel_observed: bool = False


class SessionTranscript(Reply, frozen=True, kw_only=True, tag="session_transcript.v1"):
    """A session with its turns."""

    session: SessionSummary
    turns: list[SessionTurn]


class SessionRemoved(Reply, frozen=True, kw_only=True, tag="session_removed.v1"):
    """The sessions that `session rm` deleted."""

    names: list[str]
    turns: int
    found: Literal[True]
    """Always true; a session that does not exist is `not_found.v1`."""


class SessionListRequest(
    Request["SessionList"], frozen=True, kw_only=True, tag="session_list_request.v1"
):
    """List every session."""


class SessionShowRequest(
    LookupRequest["SessionTranscript"], frozen=True, kw_only=True, tag="session_show_request.v1"
):
    """The session to show."""

    name: str


class SessionRmRequest(
    LookupRequest["SessionRemoved"], frozen=True, kw_only=True, tag="session_rm_request.v1"
):
    """The sessions to delete; when one does not exist, none is deleted."""

    names: list[str]
    """The names of the sessions."""
