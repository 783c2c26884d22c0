"""Computes what a page says about its units: items, usage, warnings, statistics, citations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

import msgspec
from msgspec import UNSET

from kebab.core.review import UnitUsage
from kebab.core.review_store import StoredPage, StoredUnit
from kebab.wire.review import (
    AgentItem,
    ItemCitation,
    ItemStats,
    ItemWarning,
    PageUsage,
    SegmentScore,
)


def cut_items(units: Sequence[StoredUnit], page: StoredPage) -> list[AgentItem]:
    """Return the items of units between the two positions of a page."""
    found: list[AgentItem] = []
    for unit in units:
        first = page.start.offset if unit.number == page.start.unit else 0
        last = page.end.offset if unit.number == page.end.unit else None
        found += unit.result.items[first:last] if unit.result else ()
    return found


def sum_usage(usages: Sequence[UnitUsage], page: StoredPage) -> PageUsage:
    """Return how the requests for a page went."""
    return PageUsage(
        requests=sum(one.requests for one in usages),
        units_answered=sum(one.requests > 0 and not _lacks_answer(one) for one in usages),
        downshift_count=sum(one.downshifts for one in usages),
        forced_pagination_count=int(page.forced),
        cursor_retry_count=page.retries,
        json_repair_count=sum(one.repairs for one in usages),
        items_dropped=sum(one.dropped for one in usages),
    )


def forget_outcome(usage: UnitUsage) -> UnitUsage:
    """Return the usage of a unit that is asked about again: what it cost, not how it ended."""
    return replace(usage, truncated=False, warnings=(), policy="first")


def _lacks_answer(usage: UnitUsage) -> bool:
    return usage.unanswered or usage.unusable or usage.truncated


def find_finish(usages: Sequence[UnitUsage]) -> Literal["stop", "length"] | None:
    """Return why the model stopped; `length` when any response was cut off."""
    reasons = {one.finish for one in usages if one.finish is not None}
    return "length" if "length" in reasons else "stop" if reasons else None


def list_warnings(
    usages: Sequence[UnitUsage], usage: PageUsage, *, is_stored: bool
) -> list[ItemWarning]:
    """Return the warnings of a page, sorted."""
    found = {warning for one in usages for warning in one.warnings}
    conditions = {
        "items_dropped": usage.items_dropped,
        "json_repaired": usage.json_repair_count,
        "run_not_stored": not is_stored,
    }
    found |= {name for name, holds in conditions.items() if holds}
    return cast("list[ItemWarning]", sorted(found))


def build_stats(items: Sequence[AgentItem], units: Sequence[StoredUnit]) -> ItemStats:
    """Return the size of a page, and the ratings of the segments of its units."""
    size = sum(len(msgspec.json.encode(item)) for item in items)
    scores = [score for unit in units if unit.result for score in unit.result.scores]
    segments = [SegmentScore(cid=cid, score=score) for cid, score in scores]
    return ItemStats(
        item_count=len(items),
        avg_item_bytes=size / len(items) if items else 0.0,
        segments=segments or UNSET,
    )


def list_citations(units: Sequence[StoredUnit], items: Sequence[AgentItem]) -> list[ItemCitation]:
    """Return what the items of a page cite, each once."""
    cited = {item.cid for item in items if isinstance(item.cid, str)}
    found = {
        one.cid: one
        for unit in units
        if unit.result
        for one in unit.result.citations
        if one.cid in cited
    }
    return list(found.values())
