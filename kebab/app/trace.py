"""Keeps the trace that a caller gives to a call, as the W3C recommendation Trace Context has it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

HEADER = "traceparent"
"""The name of the HTTP header, and of the key in `_meta` of an MCP request."""

_VARIABLE = "TRACEPARENT"
_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_FIRST_VERSION = "00-"
_LONGEST = 256
_given: ContextVar[str | None] = ContextVar("given")


@contextmanager
def accept_trace(given: object) -> Iterator[None]:
    """Give the block the trace of a request, in place of that in the environment."""
    token = _given.set(given if isinstance(given, str) else None)
    try:
        yield
    finally:
        _given.reset(token)


def find_trace() -> str | None:
    """Return the trace of this call; None when there is none, or it is malformed."""
    given = _given.get(os.environ.get(_VARIABLE))
    match = _FORM.match(given or "")
    if match is None or given is None:
        return None
    # A later version may have more parts.
    rest = given[match.end() :]
    later = rest.startswith("-") and not given.startswith(_FIRST_VERSION)
    return given if not rest or (later and len(given) <= _LONGEST and rest.isprintable()) else None
