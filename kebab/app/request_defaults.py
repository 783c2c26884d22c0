"""Lists the settings that apply where a request leaves fields out, the same for every surface."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from kebab.config.settings import Settings
    from kebab.wire.record import Reply, Request

R = TypeVar("R", bound="Request[Reply]")


def list_request_defaults(operation: str, settings: "Settings") -> dict[str, Any]:
    """Return the fields of a request that settings give, nested as the request is.

    A field that is missing has the default that its record declares.
    """
    if operation == "search":
        return _list_search_defaults(settings)
    if operation == "why":
        return {"search": _list_search_defaults(settings)}
    if operation != "ask":
        return {}
    fields = {"mode": settings.search.mode, "limit": settings.ask.limit}
    # With reranking the engine decides.
    return fields if settings.ask.rerank else {**fields, "rerank": False}


def _list_search_defaults(settings: "Settings") -> dict[str, Any]:
    """Return the settings of searches; without reranking the engine decides."""
    fields: dict[str, Any] = msgspec.to_builtins(settings.search)
    if not settings.search.rerank:
        del fields["rerank"]
    return fields


def fill_request(request: R, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> R:
    """Return a request with the defaults of the fields that its JSON object does not give."""
    filled = {
        name: fill_request(getattr(request, name), given[name], value)
        if isinstance(value, dict)
        else value
        for name, value in defaults.items()
        if isinstance(value, dict) or name not in given
    }
    return msgspec.structs.replace(request, **filled)
