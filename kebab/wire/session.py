"""Sessions: questions that follow each other, as they are remembered."""

from typing import Literal

from msgspec import Struct

from kebab.wire.ask import AnswerModeName, RefusalName
from kebab.wire.record import Record, Reply, Request


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
