"""Declares answers, what language models receive and return, and the ports of answering."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from kebab.core.queries import Filters, Mode, Page, StoredChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.wire.ask import AnswerUsage, AnswerWarning


class Refusal(StrEnum):
    """Why there is no answer."""

    NO_CHUNKS = "no_chunks"
    """Nothing is indexed, or nothing was found."""
    SCORE_GATE = "score_gate"
    """What was found is too weak to answer from."""
    LLM_SELF_JUDGE = "llm_self_judge"
    """The model says that the passages do not answer."""
    UNSUPPORTED_CLAIMS = "unsupported_claims"
    """Nothing of the answer is supported by the passages that it cites."""
    LLM_STREAM_ABORTED = "llm_stream_aborted"
    """The reader interrupted the answer."""


class AnswerMode(StrEnum):
    """Who words an answer."""

    GENERATIVE = "generative"
    EXTRACTIVE = "extractive"


FinishReason: TypeAlias = Literal["stop", "length"]
"""Why a model stopped: it was done, or a limit of tokens was reached."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a language model said, whole; counts are the server's, 0 where it gives none."""

    text: str
    finish: FinishReason
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_token_ms: float | None = None
    """From sending to the first token of the answer; None when there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskQuery:
    """One question, already checked."""

    question: str
    mode: Mode = Mode.HYBRID
    limit: int = 8
    filters: Filters = field(default_factory=Filters)
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A piece of evidence under its marker: a chunk, whole or cut to `text`.

    `text == chunk.text[start:start + len(text)]` in code points.
    """

    marker: int
    chunk: StoredChunk
    text: str
    start: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verbatim stretch [start, end) of a chunk's text, in code points."""

    chunk: StoredChunk
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words as they stand."""
        return self.chunk.text[self.start : self.end]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line of the file that hold it, 1-based and inclusive."""
        first = self.chunk.start_line + self.chunk.text.count("\n", 0, self.start)
        return first, first + self.text.count("\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingQuote:
    """A citation: the marker, the words of the file that carry it, and what they carry.

    `spans` are [start, end) code points of the answer, markers included.
    """

    marker: int
    quote: Quote
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSummary:
    """What was looked at before answering."""

    question: str
    """What was searched for: the question, made to stand alone."""
    page: Page
    used: int
    top_score: float
    gate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOutcome:
    """An answer or a refusal, with the passages that it was made from."""

    text: str
    mode: AnswerMode
    model: str | None
    refusal: Refusal | None
    citations: tuple[SupportingQuote, ...]
    retrieved: RetrievalSummary
    usage: AnswerUsage
    warnings: tuple[AnswerWarning, ...] = ()

    @property
    def grounded(self) -> bool:
        """Whether it is an answer."""
        return self.refusal is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question of a session with what became of it; `created` in seconds since the epoch."""

    session: str
    index: int
    question: str
    standalone: str
    answer: str
    refusal: Refusal | None
    mode: AnswerMode
    model: str | None
    created: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """A stored session without its turns; times in seconds since the epoch."""

    name: str
    turns: int
    first_question: str
    created: float
    updated: float


class LanguageModel(Protocol):
    """Writes text, a token at a time. Nothing it does outlasts its deadlines."""

    @property
    def name(self) -> str:
        """The model's name, as its server knows it."""

    @property
    def context_tokens(self) -> int:
        """The window that prompt and answer share, in tokens; the same for every call."""

    def chat(
        self, messages: Sequence[Message], *, max_tokens: int, on_text: Callable[[str], None]
    ) -> Completion:
        """Return what the model says to a conversation; `on_text` gets each piece as it comes.

        An exception, one of `on_text` or a `KeyboardInterrupt` too, ends the server's work: the
        connection is closed before it goes on.

        Raises:
            ModelUnreachable: No connection, or it was cut.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot chat, cannot be loaded, or the request is refused.
            ModelBusy: The server takes no more work now.
            ModelProtocol: What answers does not speak the protocol, or ended too early.
            ContextOverflow: The conversation does not fit the window.
            TimedOut: A deadline passed; `operation` says which one.
        """


class SessionStore(Protocol):
    """Remembers the turns of sessions, up to a limit."""

    def list_turns(self, session: str, last: int | None = None) -> list[Turn]:
        """Return the turns of a session in order, or only the last ones; none when unknown."""

    def add_turn(self, turn: Turn) -> int:
        """Remember a turn at the end of its session and return its index, from 0.

        `turn.index` is ignored. The oldest turns beyond the limit are forgotten; indexes go on.
        """

    def list_sessions(self) -> list[StoredSession]:
        """Return every session, the one used last first."""

    def delete_session(self, session: str) -> int:
        """Forget a session and return how many turns went."""
