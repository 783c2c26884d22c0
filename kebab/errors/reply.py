"""Builds the fields of `error.v1` from a signal.

It needs no third-party library, so that a missing library can be reported too.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from kebab.errors.signal import Retry, Signal

_TARGETS = ("path", "model", "endpoint", "field", "option", "data_dir", "operation", "what")
"""The details that can name what the error is about, the most specific first."""


def build_error_fields(
    signal: Signal, *, operation: str, message: str, hint: str | None, details: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of `error.v1` without those of the envelope."""
    meaning = signal.meaning
    return {
        "code": meaning.code,
        "message": message,
        "details": dict(details),
        "hint": hint,
        "kind": meaning.kind.value,
        "operation": operation,
        "target": _find_target(details),
        "retryable": meaning.retry is Retry.TRANSIENT,
        "retry": meaning.retry.value,
        "retry_after_ms": meaning.backoff.first_ms if meaning.backoff else None,
        "severity": meaning.severity.value,
        "correlation_id": uuid.uuid4().hex,
    }


def _find_target(details: Mapping[str, Any]) -> str | None:
    found = (details[name] for name in _TARGETS if isinstance(details.get(name), str))
    return next(found, None)
