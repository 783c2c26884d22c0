"""Declares questions, answers, answer events and sessions as wire records."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.citation import Citation, Freshness, Positive
from kebab.wire.error import ErrorReply
from kebab.wire.record import Record, Reply, Request
from kebab.wire.search import DegradedChannel, FilteredRequest, ModeName, SearchHit, Unit

MAX_PASSAGES = 100

RefusalName = Literal[
    "no_chunks", "score_gate", "llm_self_judge", "unsupported_claims", "llm_stream_aborted"
]
AnswerModeName = Literal["generative", "extractive"]


class AskRequest(FilteredRequest, frozen=True, kw_only=True, tag="ask_request.v1"):
    """What to answer. All filters must hold; repeated values of one filter are alternatives."""

    question: str
    """The question, in any language."""
    session: str | None = None
    """Continue this session, or begin it; follow-up questions are understood in it."""
    extractive: bool = False
    """Answer in the words of the notes, without any model server."""
    model: str | None = None
    """The model that answers; null means the one of the settings."""
    mode: ModeName = "hybrid"
    """Which channels look for passages."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PASSAGES)] = 8
    """The most passages that the answer is made from."""


class AnswerCitation(Struct, frozen=True, kw_only=True):
    """The words of a file that carry a part of the answer."""

    marker: Positive
    """The number that stands in the answer as `[n]`."""
    citation: Citation
    """Where the quoted words stand."""
    doc_id: str
    """The document."""
    doc_path: str
    """Its path below its source, exactly as on disk."""
    file: str | None = None
    """Where its file lies, absolute; null for text from standard input."""
    title: str
    """Its title."""
    heading_path: list[str]
    """The headings that lead to the passage."""
    chunk_id: str
    """The passage; `kebab fetch chunk ID` gives it whole."""
    quote: str
    """A verbatim stretch of the file, at the cited lines."""
    spans: list[tuple[int, int]]
    """What of `answer` it supports, as [start, end) code points."""
    freshness: Freshness
    """The file on disk against what was indexed."""


class AnswerRetrieval(Struct, frozen=True, kw_only=True):
    """What was looked at before answering."""

    trace_id: str
    """Names this answer in logs."""
    query: str
    """What was searched for: the question, made to stand alone."""
    mode: ModeName
    """Which channels looked."""
    limit: int
    """How many passages were wanted."""
    chunks_returned: int
    """How many were found."""
    chunks_used: int
    """How many the answer was made from."""
    top_score: Unit
    """The calibrated evidence that the gate saw; 0 when nothing was found."""
    score_gate: Unit
    """The least evidence that is answered from."""
    degraded: list[DegradedChannel]
    """Channels that could not look."""
    corpus_revision: int
    """The state of the index that was looked at."""


class AnswerUsage(Struct, frozen=True, kw_only=True):
    """What the answer cost."""

    prompt_tokens: int
    """Tokens of the prompt, as the server counts them."""
    completion_tokens: int
    """Tokens of the answer, as the server counts them."""
    latency_ms: float
    """From the question to the answer."""
    first_token_ms: float | None
    """From asking the model to its first token; null without a model."""
    finish_reason: Literal["stop", "length"] | None
    """Why the model stopped; null without a model."""
    truncated: bool
    """Whether the answer was cut off by a limit."""
    downshifts: int
    """How often it was asked again with less."""


class AnswerWarning(Struct, frozen=True, kw_only=True):
    """Something that a reader of the answer must know."""

    code: str
    """What, for programs; new ones may be added."""
    message: str
    """What, for people."""
    marker: int | None
    """The citation that it is about, if it is about one."""
    span: tuple[int, int] | None
    """The part of `answer` that it is about, as [start, end) code points."""


class Answer(Reply, frozen=True, kw_only=True, tag="answer.v1"):
    """An answer whose claims point at the lines that carry them, or an honest refusal."""

    question: str
    """The question as it was asked."""
    answer: str
    """Markdown with `[n]` after what a citation supports; of a refusal, a sentence that says so."""
    grounded: bool
    """Whether this is an answer; false for every refusal."""
    refusal_reason: RefusalName | None
    """Why there is no answer."""
    citations: list[AnswerCitation]
    """What carries the answer, by marker; one marker may have several."""
    suggestions: list[SearchHit]
    """Of a refusal, the nearest passages; otherwise empty."""
    mode: AnswerModeName
    """Whether a model worded the answer, or the notes did."""
    model: str | None
    """The model; null without one."""
    embedding: str | None
    """What embedded the passages; null when no vector was searched."""
    prompt_template_version: str | None
    """The prompt; null without a model."""
    retrieval: AnswerRetrieval
    """What was looked at."""
    usage: AnswerUsage
    """What it cost."""
    warnings: list[AnswerWarning]
    """What a reader must know."""
    session_id: str | None
    """The session; null outside of one."""
    turn_index: int | None
    """The place of this question in its session, from 0; null when it is not remembered."""
    created_at: str
    """When it was answered, RFC 3339."""


class AnswerEvent(Reply, frozen=True, kw_only=True, tag="answer_event.v1"):
    """One line of `ask --stream`; a reader skips types that it does not know.

    `retrieval_done` comes first, then `token`s, then exactly one `final` or `error`. `restart`
    takes back all tokens so far; `heartbeat` says that the model is still at work.
    """

    type: Literal["retrieval_done", "token", "restart", "heartbeat", "final", "error"]
    """What this line is."""
    hits: list[SearchHit] | UnsetType = UNSET
    """`retrieval_done`: what was found, best first."""
    delta: str | UnsetType = UNSET
    """`token`: the next piece of the answer, as the model says it and not yet checked."""
    reason: str | UnsetType = UNSET
    """`restart`: why it is asked again with less."""
    elapsed_ms: float | UnsetType = UNSET
    """`heartbeat`: how long the answer has taken so far."""
    answer: Answer | UnsetType = UNSET
    """`final`: the whole answer."""
    error: ErrorReply | UnsetType = UNSET
    """`error`: why there is none."""


class SessionSummary(Record, frozen=True, kw_only=True, tag="session_summary.v1"):
    """A session in a list."""

    name: str
    """Its name."""
    turns: int
    """How many questions of it are remembered."""
    first_question: str
    """The oldest of them."""
    created_at: str
    """When that was asked, RFC 3339."""
    updated_at: str
    """When the last one was asked, RFC 3339."""


class SessionList(Reply, frozen=True, kw_only=True, tag="session_list.v1"):
    """Every session, the one used last first."""

    sessions: list[SessionSummary]
    """The sessions."""
    history: bool
    """Whether turns are remembered, by the settings."""


class SessionTurn(Struct, frozen=True, kw_only=True):
    """One question with what became of it."""

    turn_index: int
    """Its place in the session, from 0."""
    question: str
    """As it was asked."""
    query: str
    """As it was searched for, made to stand alone."""
    answer: str
    """The answer, or the sentence that refuses."""
    refusal_reason: RefusalName | None
    """Why there was no answer."""
    mode: AnswerModeName
    """Whether a model worded it."""
    model: str | None
    """The model."""
    created_at: str
    """When, RFC 3339."""


class SessionTranscript(Reply, frozen=True, kw_only=True, tag="session_transcript.v1"):
    """A session with its turns."""

    session: SessionSummary
    """The session."""
    turns: list[SessionTurn]
    """Its turns in order."""


class SessionRemoved(Reply, frozen=True, kw_only=True, tag="session_removed.v1"):
    """What `session rm` forgot."""

    names: list[str]
    """The sessions."""
    turns: int
    """How many turns they had."""
    found: Literal[True]
    """Always true; a session that does not exist is `not_found.v1`."""


class SessionListRequest(Request, frozen=True, kw_only=True, tag="session_list_request.v1"):
    """List every session."""


class SessionShowRequest(Request, frozen=True, kw_only=True, tag="session_show_request.v1"):
    """Which session to show."""

    name: str
    """The session."""


class SessionRmRequest(Request, frozen=True, kw_only=True, tag="session_rm_request.v1"):
    """Which sessions to forget; all of them, or none when one does not exist."""

    names: list[str]
    """The sessions."""
