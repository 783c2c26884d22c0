"""Makes requests of JSON objects; fields that these leave out have the values of the settings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, Request, decode_request, to_invalid_input

if TYPE_CHECKING:
    from kebab.config.settings import Settings

R = TypeVar("R", bound=Request[Reply])


def list_request_defaults(operation: str, settings: "Settings") -> dict[str, Any]:
    """Return the fields of a request that settings give, nested as the request is.

    A field that is missing has the default that its record declares.
    """
    if operation == "search":
        defaults: dict[str, Any] = msgspec.to_builtins(settings.search)
        if not settings.search.rerank:
            del defaults["rerank"]  # the engine decides
        return defaults
    if operation != "ask":
        return {}
    fields = {"mode": settings.search.mode, "limit": settings.ask.limit}
    # With reranking the engine decides.
    return fields if settings.ask.rerank else {**fields, "rerank": False}


def fill_request(request: R, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> R:
    """Return a request with the defaults of the fields that its JSON object does not give."""
    missing = {name: value for name, value in defaults.items() if name not in given}
    return msgspec.structs.replace(request, **missing)


def decode_operation_request(operation: str, raw: bytes, settings: "Settings") -> Request[Reply]:
    """Decode a request from JSON; nothing at all means an empty object.

    Fields that it leaves out have the values of the settings, as on the command line.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    raw = raw if raw.strip() else b"{}"
    request: Request[Reply] = decode_request(raw, OPERATIONS[operation].request)
    defaults = list_request_defaults(operation, settings)
    return fill_request(request, msgspec.json.decode(raw), defaults) if defaults else request


def convert_operation_request(
    operation: str, fields: Mapping[str, Any], settings: "Settings"
) -> Request[Reply]:
    """Return the request of a decoded JSON object; the rest is as in `decode_operation_request`.

    Raises:
        InvalidInput: The object breaks the schema; `field` is the JSON path.
    """
    try:
        request = msgspec.convert(dict(fields), OPERATIONS[operation].request)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault
    return fill_request(request, fields, list_request_defaults(operation, settings))
