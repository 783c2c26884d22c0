"""Declares the base classes of wire records, and converts records to and from JSON.

The docstring of a field is published as its description in the schema.
"""

import ast
import inspect
import textwrap
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import limit_hint

R = TypeVar("R", bound="Reply")

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised for bytes that are not JSON, not UTF-8, or nested too deeply."""

_FLOAT_PLACES = 6
_encoder = msgspec.json.Encoder()


class Record(Struct, frozen=True, kw_only=True, tag_field="schema_version"):
    """An object that may be part of others; readers ignore fields that they do not know."""


class Reply(Record, frozen=True, kw_only=True):
    """An object that may be at the top level, where it has the fields of the envelope."""

    command: str | UnsetType = UNSET
    """The command that replies; at the top level only."""
    timestamp: str | UnsetType = UNSET
    """The time of the reply, RFC 3339 in UTC with `Z`; at the top level only."""
    exit_code: int | UnsetType | None = UNSET
    """The exit status of the process, null while it is not known; at the top level only."""
    output_format: Literal["json"] | UnsetType = UNSET
    """Always `json`; at the top level only."""


class Hinted(Struct, frozen=True, kw_only=True):
    """A record with a `hint` or a `fix`: one line of at most `MAX_HINT_CHARS`, else null."""

    def __post_init__(self) -> None:
        """Leave out a hint that does not fit."""
        name = "hint" if "hint" in self.__struct_fields__ else "fix"
        hint = getattr(self, name)
        if hint is not None and limit_hint(hint) is None:
            msgspec.structs.force_setattr(self, name, None)


class Request(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="schema_version"
):
    """An object that callers send; an unknown field is an error."""


def add_envelope(reply: R, *, command: str, timestamp: str, exit_code: int | None) -> R:
    """Return the reply with the fields of the envelope."""
    return msgspec.structs.replace(
        reply, command=command, timestamp=timestamp, exit_code=exit_code, output_format="json"
    )


def encode_json(record: Record | Request) -> bytes:
    """Return one line of JSON in UTF-8 without a newline, floats rounded to 6 places."""
    return _encoder.encode(_round_floats(msgspec.to_builtins(record)))


def decode_request(raw: bytes, record_type: Any) -> Any:
    """Decode a request from JSON; `record_type` is its type, or a union with simpler types.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    try:
        return msgspec.json.decode(raw, type=record_type)
    except DECODE_ERRORS as fault:
        raise to_invalid_input(fault) from fault


def to_invalid_input(fault: Exception) -> InvalidInput:
    """Convert an exception of msgspec; its message ends in the JSON path of the field."""
    cause, _, path = str(fault).partition(" - at `")
    return InvalidInput(field=path.rstrip("`") or "$", cause=cause)


def _round_floats(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _FLOAT_PLACES)
    if isinstance(value, dict):
        return {key: _round_floats(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_round_floats(item) for item in value]
    return value


def read_field_docstrings(record_type: type) -> dict[str, str]:
    """Return the docstring of each field of a class, inherited fields included."""
    found: dict[str, str] = {}
    for ancestor in reversed(record_type.__mro__):
        if ancestor.__module__.startswith("kebab."):
            found |= _read_own_docstrings(ancestor)
    return found


def _read_own_docstrings(record_type: type) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(record_type))).body[0]
    assert isinstance(body, ast.ClassDef)
    pairs = zip(body.body, body.body[1:], strict=False)
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in pairs
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
