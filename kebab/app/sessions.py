"""Sessions: how they are named, what is remembered of them, shown and forgotten."""

import unicodedata
from collections.abc import Sequence

from kebab.app.compose import Workshop
from kebab.app.lookup import not_found
from kebab.app.moment import stamp
from kebab.core.answer import SessionRow, Turn
from kebab.errors.catalog import InvalidInput
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import NotFound
from kebab.wire.session import (
    SessionList,
    SessionRemoved,
    SessionSummary,
    SessionTranscript,
    SessionTurn,
)

_LONGEST = 100
_BREAKING = ("Cc", "Zl", "Zp")
"""The Unicode categories of control characters and of separators of lines and paragraphs."""


def named(text: str, field: str = "$.session") -> str:
    """Return the name of a session: NFC, without blanks at its ends; letter case counts.

    Raises:
        InvalidInput: It is not valid UTF-8, empty, longer than 100 code points, or holds a control
            character or a line break.
    """
    if escape_undecodable(text) != text:
        raise InvalidInput(field=field, cause="not valid UTF-8")
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise InvalidInput(field=field, cause="empty")
    if len(name) > _LONGEST:
        raise InvalidInput(field=field, cause=f"longer than {_LONGEST} characters: {len(name)}")
    if any(unicodedata.category(character) in _BREAKING for character in name):
        raise InvalidInput(field=field, cause="holds a control character or a line break")
    return name


def sessions(shop: Workshop) -> SessionList:
    """Return every session, the one used last first, whether or not history is still on.

    Raises:
        NotIndexed: There is no index.
    """
    found = [_summary(one) for one in shop.conversations.sessions()]
    return SessionList(sessions=found, history=shop.settings.ask.history)


def transcript(shop: Workshop, name: str) -> SessionTranscript | NotFound:
    """Return a session with its turns.

    Raises:
        InvalidInput: No session can have this name.
        NotIndexed: There is no index.
    """
    session = named(name, "$.name")
    turns = shop.conversations.turns(session)
    if not turns:
        return not_found(session, "session")
    whole = SessionRow(
        name=session,
        turns=len(turns),
        first_question=turns[0].question,
        created=turns[0].created,
        updated=turns[-1].created,
    )
    return SessionTranscript(session=_summary(whole), turns=list(map(_turn, turns)))


def forget(shop: Workshop, names: Sequence[str]) -> SessionRemoved | NotFound:
    """Forget sessions; all of them, or none when one is unknown.

    Raises:
        InvalidInput: No session can have such a name.
        NotIndexed: There is no index.
        ReadOnly: Writing is switched off.
    """
    shop.refuse_when_read_only("session rm")
    doomed = list(dict.fromkeys(named(name, "$.names") for name in names))
    known = {one.name for one in shop.conversations.sessions()}
    if missing := next((name for name in doomed if name not in known), None):
        return not_found(missing, "session")
    turns = sum(map(shop.conversations.forget, doomed))
    return SessionRemoved(names=doomed, turns=turns, found=True)


def _summary(one: SessionRow) -> SessionSummary:
    return SessionSummary(
        name=one.name,
        turns=one.turns,
        first_question=one.first_question,
        created_at=stamp(one.created),
        updated_at=stamp(one.updated),
    )


def _turn(one: Turn) -> SessionTurn:
    return SessionTurn(
        turn_index=one.index,
        question=one.question,
        query=one.standalone,
        answer=one.answer,
        refusal_reason=one.refusal.value if one.refusal else None,
        mode=one.mode.value,
        model=one.model,
        created_at=stamp(one.created),
    )
