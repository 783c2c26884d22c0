"""The lock: what is frozen of each row, and how a catalogue differs from the released one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kebab.wire.pages import rows

Frozen: TypeAlias = Mapping[str, Any]
"""What callers may rely on of one row, and under `details` the types of its details."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How a catalogue differs from a released one, one line for each difference."""

    broken: tuple[str, ...]
    """Promises that are no longer kept."""
    added: tuple[str, ...]
    """What is new, which breaks nothing."""


def lock() -> dict[str, dict[str, Any]]:
    """Return what is frozen of each row, by code."""
    return {
        one.code: {
            "canonical": one.canonical,
            "details": {field.name: field.type for field in one.details},
            "domain": one.domain,
            "exit": one.exit_code,
            "grpc": one.grpc_status,
            "http": one.http_status,
            "kind": one.kind,
            "origin": one.origin,
            "public": one.public,
            "retired": one.retired,
            "retry": one.retry,
            "severity": one.severity,
        }
        for one in rows()
    }


def changes(released: Mapping[str, Frozen], now: Mapping[str, Frozen]) -> Changes:
    """Return how the rows of now differ from released ones."""
    kept = [code for code in released if code in now]
    return Changes(
        broken=(
            *(f"{code}: removed, mark it retired instead" for code in released if code not in now),
            *(line for code in kept for line in _broken(code, released[code], now[code])),
        ),
        added=(
            *(f"added: {code}" for code in now if code not in released),
            *(line for code in kept for line in _added(code, released[code], now[code])),
        ),
    )


def _broken(code: str, before: Frozen, after: Frozen) -> Iterator[str]:
    """Yield what a row no longer promises; one that names another thing has broken it all."""
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


def _added(code: str, before: Frozen, after: Frozen) -> Iterator[str]:
    if after["retired"] and not before["retired"]:
        yield f"retired: {code}"
    for name in after["details"]:
        if name not in before["details"]:
            yield f"added: {code}.{name}"
