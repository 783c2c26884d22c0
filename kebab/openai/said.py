"""What an error of a server says, in the many shapes that the protocol has grown."""

from dataclasses import dataclass
from typing import Any

from kebab.transport.decode import count, json_object

_LONGEST = 4000
"""Real texts are far shorter; what is longer is not looked at."""
_DEEPEST = 3
"""So many errors may be wrapped in one another."""
_STATUS_DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An error: its words, the names of its kind, and what it counts; 0 where it counts nothing.

    `status` is the HTTP status that the error itself tells.
    """

    text: str
    kinds: frozenset[str] = frozenset()
    status: int = 0
    prompt_tokens: int = 0
    context_tokens: int = 0


def said(answer: dict[str, Any]) -> Said | None:
    """Return the error that an object tells, or None when it tells none.

    Known are `{"error": {"message": …}}`, `{"error": "…"}`, `{"object": "error", "message": …}`,
    `{"message": …}` and `{"detail": …}`; a text may be such an object again.
    """
    return _read(answer, _DEEPEST)


def _read(answer: dict[str, Any], levels: int) -> Said | None:
    error, detail = answer.get("error"), answer.get("detail")
    for inner in (error, detail):
        if isinstance(inner, dict):
            return _read(inner, levels - 1) if levels else None
    for text in (error, answer.get("message"), _faults(detail)):
        if isinstance(text, str):
            return _unwrapped(text, levels) or _told(text, answer)
    return None


def _unwrapped(text: str, levels: int) -> Said | None:
    """Return the error that a text holds, which is one that the server passes on."""
    inner = json_object(text) if levels and text.lstrip().startswith("{") else None
    return _read(inner, levels - 1) if inner else None


def _told(text: str, answer: dict[str, Any]) -> Said:
    kinds = (answer.get("type"), answer.get("code"))
    return Said(
        text=text[:_LONGEST],
        kinds=frozenset(kind for kind in kinds if isinstance(kind, str)),
        status=_status(answer.get("code")),
        prompt_tokens=count(answer.get("n_prompt_tokens")),
        context_tokens=count(answer.get("n_ctx")),
    )


def _status(code: object) -> int:
    """Return the HTTP status that a code is, written as a number or not; else 0."""
    if isinstance(code, str):
        code = int(code) if len(code) == _STATUS_DIGITS and code.isdecimal() else 0
    status = count(code)
    return status if 400 <= status <= 599 else 0  # noqa: PLR2004 - the error statuses of HTTP


def _faults(detail: object) -> object:
    """Return what FastAPI says: a text, or a list of faults with their places."""
    if not isinstance(detail, list):
        return detail
    return "; ".join(filter(None, map(_fault, detail))) or None


def _fault(fault: object) -> str:
    if not isinstance(fault, dict) or not isinstance(fault.get("msg"), str):
        return ""
    place = fault.get("loc")
    parts = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
    return f"{'.'.join(parts)}: {fault['msg']}" if parts else str(fault["msg"])
