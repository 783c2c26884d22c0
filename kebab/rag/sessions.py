"""Names sessions, and keeps the turns of questions in them."""

import unicodedata
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.core.answers import Turn
from kebab.errors.catalog import InvalidInput, IoError, Locked
from kebab.errors.system import escape_undecodable
from kebab.wire.ask import Answer, AnswerWarning
from kebab.wire.record import fill_record

if TYPE_CHECKING:
    from kebab.store.sqlite.sessions import SqliteSessionStore

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


def keep_turn(
    store: "SqliteSessionStore", answer: Answer, session: str, created: float, folder: str | None
) -> Answer:
    """Store the turn of an answer, and return the answer with its place in the session.

    `folder` is the working folder of the person who asked.
    """
    turn = fill_record(
        Turn,
        answer,
        session=session,
        index=0,  # the store counts
        standalone=answer.retrieval.query,
        refusal=answer.refusal_reason,
        created=created,
        folder=folder,
    )
    try:
        index = store.add_turn(turn)
    except (IoError, Locked) as signal:
        message = f"this turn is not remembered: {signal.format_message()}"
        warning = AnswerWarning(code="turn_not_kept", message=message, marker=None, span=None)
        return replace(answer, session_id=session, warnings=[*answer.warnings, warning])
    return replace(answer, session_id=session, turn_index=index)
