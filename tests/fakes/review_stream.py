"""Pages and events of reviews, and the work that reports them."""

from typing import Any

from kebab.wire.review import (
    AgentItem,
    AgentItems,
    ItemStats,
    ReviewedDocument,
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
        warnings=[],
        degraded=[],
        stats=ItemStats(item_count=len(items), avg_item_bytes=0.0),
        items=list(items),
        fail_on="suggestion",
        has_more=cursor is not None,
        next_cursor=cursor,
    )


def make_event(kind: Any, **fields: Any) -> ReviewEvent:
    """Return an event of the run, of which `page` is the whole data of `items`."""
    if "page" in fields:
        return ReviewEvent(type=kind, data=fields["page"])
    return ReviewEvent(type=kind, data=ReviewEventData(run_id=RUN, **fields))
