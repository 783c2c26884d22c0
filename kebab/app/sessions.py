"""Lists, shows and deletes sessions, and checks their names."""

import unicodedata

from kebab.app.context import AppContext
from kebab.app.library import build_not_found
from kebab.app.timestamps import format_timestamp
from kebab.core.answers import AskOutcome, AskQuery, StoredSession, Turn
from kebab.errors.catalog import InvalidInput
from kebab.text.normalize import escape_undecodable
from kebab.wire.ask import (
    SessionList,
    SessionRemoved,
    SessionRmRequest,
    SessionShowRequest,
    SessionSummary,
    SessionTranscript,
    SessionTurn,
)
from kebab.wire.library import NotFound

_MAX_NAME_CHARS = 100
_FORBIDDEN_CATEGORIES = ("Cc", "Zl", "Zp")
"""The Unicode categories of control characters and of separators of lines and paragraphs."""


def parse_session_name(text: str, field: str = "$.session") -> str:
    """Return a session name in NFC without surrounding whitespace; case is significant.

    Raises:
        InvalidInput: It is not valid UTF-8, empty, longer than 100 code points, or holds a control
            character or a line break.
    """
    if escape_undecodable(text) != text:
        raise InvalidInput(field=field, cause="not valid UTF-8")
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise InvalidInput(field=field, cause="empty")
    if len(name) > _MAX_NAME_CHARS:
        raise InvalidInput(
            field=field, cause=f"longer than {_MAX_NAME_CHARS} characters: {len(name)}"
        )
    if any(unicodedata.category(character) in _FORBIDDEN_CATEGORIES for character in name):
        raise InvalidInput(field=field, cause="holds a control character or a line break")
    return name


def list_sessions(context: AppContext) -> SessionList:
    """Return every session, the most recently used first, even if history is off.

    Raises:
        NotIndexed: There is no index.
    """
    sessions = list(map(_to_session_summary, context.session_store.list_sessions()))
    return SessionList(sessions=sessions, history=context.settings.ask.history)


def show_session(context: AppContext, request: SessionShowRequest) -> SessionTranscript | NotFound:
    """Return a session with its turns.

    Raises:
        InvalidInput: The name is invalid.
        NotIndexed: There is no index.
    """
    session = parse_session_name(request.name, "$.name")
    turns = context.session_store.list_turns(session)
    if not turns:
        return build_not_found(session, "session")
    row = StoredSession(
        name=session,
        turns=len(turns),
        first_question=turns[0].question,
        created=turns[0].created,
        updated=turns[-1].created,
    )
    return SessionTranscript(
        session=_to_session_summary(row), turns=list(map(_to_session_turn, turns))
    )


def remove_sessions(context: AppContext, request: SessionRmRequest) -> SessionRemoved | NotFound:
    """Delete sessions; when one does not exist, none is deleted.

    Raises:
        InvalidInput: A name is invalid.
        NotIndexed: There is no index.
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("session rm")
    names = list(dict.fromkeys(parse_session_name(name, "$.names") for name in request.names))
    known = {session.name for session in context.session_store.list_sessions()}
    if missing := next((name for name in names if name not in known), None):
        return build_not_found(missing, "session")
    turns = sum(map(context.session_store.delete_session, names))
    return SessionRemoved(names=names, turns=turns, found=True)


def _to_session_summary(session: StoredSession) -> SessionSummary:
    return SessionSummary(
        name=session.name,
        turns=session.turns,
        first_question=session.first_question,
        created_at=format_timestamp(session.created),
        updated_at=format_timestamp(session.updated),
    )


def _to_session_turn(turn: Turn) -> SessionTurn:
    return SessionTurn(
        turn_index=turn.index,
        question=turn.question,
        query=turn.standalone,
        answer=turn.answer,
        refusal_reason=turn.refusal.value if turn.refusal else None,
        mode=turn.mode.value,
        model=turn.model,
        created_at=format_timestamp(turn.created),
    )


def build_turn(query: AskQuery, outcome: AskOutcome, created: float) -> Turn:
    """Return the turn of a question and its answer; its index is not known yet."""
    return Turn(
        session=query.session or "",
        index=0,
        question=query.question,
        standalone=outcome.retrieved.question,
        answer=outcome.text,
        refusal=outcome.refusal,
        mode=outcome.mode,
        model=outcome.model,
        created=created,
    )
