"""Stored runs with every field filled in."""

from typing import Any

from kebab.core.review import (
    FinishedUnit,
    PlannedDocument,
    StoredRun,
    Unit,
    UnitKey,
    UnitResult,
    UnitUsage,
)
from kebab.wire.review import AgentItem, ItemFix


def make_run(run_id: str = "r1", **changes: Any) -> StoredRun:
    """Return a review of two files."""
    return StoredRun(
        **{
            "run_id": run_id,
            "kind": "review",
            "tier": "quick",
            "model": "gemma3:4b",
            "request": '{"names":["notes"]}',
            "files": ("/notes/a.md", "/notes/b.md"),
            "salt": f"salt of {run_id}",
            "page_items": 3,
            "created": 1000.0,
            **changes,
        }
    )


def make_planned(number: int = 0, units: int = 2) -> PlannedDocument:
    """Return the plan of a document."""
    return PlannedDocument(number, f"hash {number}", tuple(make_units(units)))


def make_units(count: int = 2) -> list[Unit]:
    """Return the units of a document: the rules, then parts for the model."""
    texts = [Unit("proofread", (at, at + 3), at * 10, at * 10 + 30, 1) for at in range(count - 1)]
    return [Unit("rules", (0, 0), 0, 99), *texts][:count]


def make_item(at: int = 0, **changes: Any) -> AgentItem:
    """Return an item; `at` is its sentence and its place."""
    return AgentItem(
        **{
            "uid": f"{at:040x}",
            "k": "spelling",
            "s": "warning",
            "r": f"reason {at}: 백업 🎉",
            "t": "replace",
            "i": (at, at),
            "o": (at, at + 2),
            "conf": 0.123456789,
            "fix": ItemFix(text="b\r\n", note="n"),
            **changes,
        }
    )


def make_result(*places: int, **usage: Any) -> UnitResult:
    """Return a result with items at these places; `usage` are fields of `UnitUsage`."""
    return UnitResult(items=tuple(make_item(at) for at in places), usage=UnitUsage(**usage))


def make_finished(
    number: int, *places: int, document: int = 0, place: int | None = None, **usage: Any
) -> FinishedUnit:
    """Return an entry of the list of finished units; its unit has the same number unless told."""
    key = UnitKey(document, number if place is None else place)
    return FinishedUnit(number, key, make_result(*places, **usage))


def make_full_result() -> UnitResult:
    """Return a result with every field filled in."""
    return UnitResult(
        items=(make_item(1, cid="c1", lang="ko", side="tgt", rule_id="x"), make_item(2)),
        doubtful=("u1",),
        ignored=2,
        fault="no such file",
        usage=UnitUsage(
            requests=2,
            prompt_tokens=30,
            completion_tokens=4,
            latency_ms=12.5,
            finish="length",
            truncated=True,
            warnings=("items_dropped",),
            unanswered=True,
            unusable=True,
        ),
    )
