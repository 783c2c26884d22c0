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
