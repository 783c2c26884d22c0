"""Converts the rows of the error catalogue to wire objects."""

import dataclasses
import inspect
from typing import Any

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Signal
from kebab.wire.error import DetailField, ErrorRow, RetryAdvice

_TWICE = 2


def build_error_rows() -> list[ErrorRow]:
    """Return every row of the catalogue, by code."""
    return [build_error_row(signal) for _, signal in sorted(build_catalog().items())]


def build_error_row(signal: type[Signal]) -> ErrorRow:
    """Return one row of the catalogue as a wire object."""
    meaning = signal.meaning
    return ErrorRow(
        code=meaning.code,
        kind=meaning.kind.value,
        canonical=meaning.canonical.value,
        domain=meaning.domain,
        origin=meaning.origin.value,
        exit_code=meaning.exit.value,
        http_status=meaning.http,
        grpc_status=meaning.grpc,
        retry=meaning.retry.value,
        severity=meaning.severity.value,
        public=meaning.public,
        retired=meaning.retired,
        reserved=meaning.reserved,
        backoff=RetryAdvice(**meaning.backoff._asdict()) if meaning.backoff else None,
        message=signal.message,
        hint=signal.hint,
        details=_build_details(signal),
        explanation=inspect.cleandoc(signal.__doc__ or ""),
    )


def _build_details(signal: type[Signal]) -> list[DetailField]:
    fields = dataclasses.fields(signal)  # type: ignore[arg-type]
    return [DetailField(name=field.name, type=_format_type(field.type)) for field in fields]


def _format_type(annotation: Any) -> str:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return annotation.__name__
    return str(annotation).replace("typing.", "")


def describe_backoff(advice: RetryAdvice) -> str:
    """Describe in words how long to wait before the next attempt."""
    times = "once" if advice.attempts == 1 else f"at most {advice.attempts} times"
    if not advice.first_ms:
        return f"at once, {times}"
    if advice.factor == 1:
        return f"after {advice.first_ms} ms, {times}"
    longer = "twice" if advice.factor == _TWICE else f"{advice.factor:g} times"
    growth = f"then {longer} as long each time up to {advice.ceiling_ms} ms"
    return f"after {advice.first_ms} ms, {growth}, {times}"
