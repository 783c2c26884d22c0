"""From the catalogue to its rows on the wire, and to its page."""

import dataclasses
import inspect
from typing import Any

from kebab.errors.listing import catalog
from kebab.errors.signal import Signal
from kebab.wire.error import DetailField, ErrorRow, RetryAdvice

_TWICE = 2


def rows() -> list[ErrorRow]:
    """Return every row of the catalogue, by code."""
    return [row(signal) for _, signal in sorted(catalog().items())]


def row(signal: type[Signal]) -> ErrorRow:
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
        details=_details(signal),
        explanation=inspect.cleandoc(signal.__doc__ or ""),
    )


def errors_page() -> str:
    """Return `errors.md`."""
    head = (
        "# Errors\n\nGenerated from `kebab/errors/catalog.py`. Branch on `code` only, and treat"
        " an unknown code or exit status as failure.\n\n"
        "| code | kind | exit | http | grpc | retry | details |\n|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(_line(one) for one in rows()) + "".join(_section(one) for one in rows())


def _details(signal: type[Signal]) -> list[DetailField]:
    fields = dataclasses.fields(signal)  # type: ignore[arg-type]
    return [DetailField(name=one.name, type=_type_name(one.type)) for one in fields]


def _type_name(form: Any) -> str:
    return (
        form.__name__
        if isinstance(form, type) and not hasattr(form, "__args__")
        else (str(form).replace("typing.", ""))
    )


def _line(one: ErrorRow) -> str:
    names = ", ".join(f"`{field.name}`" for field in one.details) or "none"
    return (
        f"| [`{one.code}`](#{one.code}) | {one.kind} | {one.exit_code} | {one.http_status}"
        f" | {one.grpc_status} | {one.retry} | {names} |\n"
    )


def _section(one: ErrorRow) -> str:
    details = "".join(f"- `{field.name}`: `{field.type}`\n" for field in one.details)
    return (
        f"\n## {one.code}\n\n{one.explanation}\n\n"
        f"- message: `{one.message}`\n- hint: {f'`{one.hint}`' if one.hint else 'none'}\n"
        f"- canonical: `{one.canonical}`, domain: `{one.domain}`, origin: {one.origin},"
        f" severity: {one.severity}\n"
        + (f"- try again: {backoff_words(one.backoff)}\n" if one.backoff else "")
        + ("- reserved: nothing raises it yet\n" if one.reserved else "")
        + (f"\nDetails:\n\n{details}" if details else "")
    )


def backoff_words(advice: RetryAdvice) -> str:
    """Return in words how long to wait before trying again."""
    times = "once" if advice.attempts == 1 else f"at most {advice.attempts} times"
    if not advice.first_ms:
        return f"at once, {times}"
    if advice.factor == 1:
        return f"after {advice.first_ms} ms, {times}"
    longer = "twice" if advice.factor == _TWICE else f"{advice.factor:g} times"
    growth = f"then {longer} as long each time up to {advice.ceiling_ms} ms"
    return f"after {advice.first_ms} ms, {growth}, {times}"
