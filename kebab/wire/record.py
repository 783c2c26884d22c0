"""The base of wire objects, and the one place that turns them into bytes.

A field's docstring is published text: it becomes the description in the schema.
"""

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.errors.catalog import InvalidInput

R = TypeVar("R", bound="Reply")

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are no JSON, no UTF-8, or nested beyond reason."""

_FLOAT_PLACES = 6
_encoder = msgspec.json.Encoder()


class Record(Struct, frozen=True, kw_only=True, tag_field="schema_version"):
    """An object that may stand inside others; open, so a reader ignores what it does not know."""


class Reply(Record, frozen=True, kw_only=True):
    """An object that may stand at the top level, where it carries the envelope."""

    command: str | UnsetType = UNSET
    """The subcommand that speaks; at the top level only."""
    timestamp: str | UnsetType = UNSET
    """When, as RFC 3339 in UTC with `Z`; at the top level only."""
    exit_code: int | UnsetType | None = UNSET
    """The status the process will exit with, null while it is not known; at the top level only."""
    output_format: Literal["json"] | UnsetType = UNSET
    """Always `json`; at the top level only."""


class Request(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="schema_version"
):
    """An object that callers send; closed: an unknown field is a fault."""


def add_envelope(reply: R, *, command: str, timestamp: str, exit_code: int | None) -> R:
    """Return the reply as a top-level object."""
    return msgspec.structs.replace(
        reply, command=command, timestamp=timestamp, exit_code=exit_code, output_format="json"
    )


def encode_json(record: Record | Request) -> bytes:
    """Return one line of JSON without its newline: UTF-8, floats rounded to 6 places."""
    return _encoder.encode(_rounded(msgspec.to_builtins(record)))


def decode_request(raw: bytes, form: Any) -> Any:
    """Return a request from JSON; `form` is its type, or a union with simpler forms.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    try:
        return msgspec.json.decode(raw, type=form)
    except DECODE_ERRORS as fault:
        raise to_invalid_input(fault) from fault


def to_invalid_input(fault: Exception) -> InvalidInput:
    """Return the signal for a fault that msgspec found, with the JSON path split off."""
    cause, _, path = str(fault).partition(" - at `")
    return InvalidInput(field=path.rstrip("`") or "$", cause=cause)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _FLOAT_PLACES)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
