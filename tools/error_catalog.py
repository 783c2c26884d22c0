"""Renders the page and the lock file of the error catalogue, and compares lock files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kebab.errors.catalog import build_catalog
from kebab.wire.error import ErrorRow, build_error_rows, list_details

Frozen: TypeAlias = Mapping[str, Any]
"""The frozen fields of one row; `details` maps each detail to its type."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between a catalogue and a released one, one line each."""

    broken: tuple[str, ...]
    """Changes that break a promise."""
    added: tuple[str, ...]
    """Additions, which break nothing."""


def render_errors_page() -> str:
    """Return the text of `errors.md`."""
    head = (
        "# Errors\n\nGenerated from `kebab/errors/catalog.py`. Branch on `code` only, and treat"
        " an unknown code or exit status as failure.\n\n"
        "| code | kind | exit | http | grpc | retry | details |\n|---|---|---|---|---|---|---|\n"
    )
    rows = build_error_rows()
    return "".join([head, *map(_render_line, rows), *map(_render_section, rows)])


def build_lock() -> dict[str, dict[str, Any]]:
    """Return the frozen fields of each row, by code."""
    return {
        code: {
            "canonical": row.canonical.value,
            "details": {field.name: field.type for field in list_details(row)},
            "domain": row.domain,
            "exit": row.exit.value,
            "grpc": row.grpc,
            "http": row.http,
            "kind": row.kind.value,
            "origin": row.origin.value,
            "public": row.public,
            "retired": row.retired,
            "retry": row.retry.value,
            "severity": row.severity.value,
        }
        for code, row in sorted(build_catalog().items())
    }


def compare_locks(released: Mapping[str, Frozen], now: Mapping[str, Frozen]) -> Changes:
    """Return how the current rows differ from the released rows."""
    kept = [code for code in released if code in now]
    return Changes(
        broken=(
            *(f"{code}: removed, mark it retired instead" for code in released if code not in now),
            *(line for code in kept for line in _find_broken(code, released[code], now[code])),
        ),
        added=(
            *(f"added: {code}" for code in now if code not in released),
            *(line for code in kept for line in _find_added(code, released[code], now[code])),
        ),
    )


def _find_broken(code: str, before: Frozen, after: Frozen) -> Iterator[str]:
    """Yield the broken promises of a row; a reused code is reported alone."""
    if before["domain"] != after["domain"]:
        yield f"{code}: reused, it meant {before['domain']} and now {after['domain']}"
        return
    if before["retired"] and not after["retired"]:
        yield f"{code}: reused, it was retired"
    for name in sorted(before.keys() - {"details", "retired"}):
        if before[name] != after.get(name):
            yield f"{code}: {name} changed from {before[name]} to {after.get(name)}"
    for name, form in before["details"].items():
        found = after["details"].get(name)
        if found is None:
            yield f"{code}: detail {name} removed"
        elif found != form:
            yield f"{code}: detail {name} changed from {form} to {found}"


def _find_added(code: str, before: Frozen, after: Frozen) -> Iterator[str]:
    if after["retired"] and not before["retired"]:
        yield f"retired: {code}"
    for name in after["details"]:
        if name not in before["details"]:
            yield f"added: {code}.{name}"


def _render_line(one: ErrorRow) -> str:
    names = ", ".join(f"`{field.name}`" for field in one.details) or "none"
    return (
        f"| [`{one.code}`](#{one.code}) | {one.kind} | {one.exit_code} | {one.http_status}"
        f" | {one.grpc_status} | {one.retry} | {names} |\n"
    )


def _render_section(one: ErrorRow) -> str:
    details = "".join(f"- `{field.name}`: `{field.type}`\n" for field in one.details)
    return (
        f"\n## {one.code}\n\n{one.explanation}\n\n"
        f"- message: `{one.message}`\n- hint: {f'`{one.hint}`' if one.hint else 'none'}\n"
        f"- canonical: `{one.canonical}`, domain: `{one.domain}`, origin: {one.origin},"
        f" severity: {one.severity}\n" + (f"\nDetails:\n\n{details}" if details else "")
    )
