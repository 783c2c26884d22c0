"""Pages and events of reviews, and the work that reports them."""

from typing import Any

from kebab.wire.review import (
    AgentItem,
    AgentItems,
    ItemStats,
    PageUsage,
    ReviewedDocument,
    TierStats,
)
from kebab.wire.stream import ReviewEvent, ReviewEventData

RUN = "run-1"


def make_item(number: int = 0, *, severity: Any = "warning") -> AgentItem:
    """Return an item; its number decides its place."""
    return AgentItem(
        uid=f"{number:040x}",
        k="repetition",
        s=severity,
        r="the word is repeated: the",
        t="note",
        i=(number, number),
        o=(number * 10, number * 10 + 3),
        rule_id="repeated-word",
    )


def make_page(*items: AgentItem, unit: int = 0, cursor: str | None = None) -> AgentItems:
    """Return a page with these items; there is a next page when it has a cursor."""
    document = ReviewedDocument(
        doc_id=None,
        doc_path="a.md",
        file="/notes/a.md",
        media="text/markdown",
        lang="en",
        content_hash="0" * 64,
        index=0,
        of=1,
    )
    return AgentItems(
        run_id=RUN,
        chunk_id=f"chunk-{unit}",
        tier="quick",
        model=None,
        document=document,
        latency_ms=0.0,
        prompt_tokens=0,
        completion_tokens=0,
        finish_reason=None,
        truncated=False,
        partial=cursor is not None,
        policy="first",
        warnings=[],
        degraded=[],
        stats=ItemStats(item_count=len(items), avg_item_bytes=0.0),
        usage=PageUsage(),
        items=list(items),
        fail_on="suggestion",
        has_more=cursor is not None,
        next_cursor=cursor,
    )


def make_event(kind: Any, **fields: Any) -> ReviewEvent:
    """Return an event of the run."""
    return ReviewEvent(type=kind, data=ReviewEventData(run_id=RUN, **fields))


def make_tiers() -> list[TierStats]:
    """Return the counters of a tier with a model, and of one without."""
    nothing: dict[str, Any] = {
        name: 0 for name in TierStats.__struct_fields__ if name not in ("kind", "tier")
    }
    some: dict[str, Any] = {
        "runs": 3,
        "units": 1234,
        "items": 56,
        "requests": 40,
        "items_per_response": 1.25,
    }
    more: dict[str, Any] = {"prompt_tokens": 12_345, "completion_tokens": 678, "latency_ms": 1234.5}
    return [
        TierStats(kind="review", tier="quick", **{**nothing, **some, **more, "downshift_count": 2}),
        TierStats(kind="translate", tier="micro-check", **{**nothing, "runs": 1}),
    ]
