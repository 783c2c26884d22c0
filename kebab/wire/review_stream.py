"""Declares the lines of `review --stream` and of `translate --stream` as wire records."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from kebab.wire.citation import Count
from kebab.wire.record import Reply
from kebab.wire.review import AgentItems


class ReviewEventData(Struct, frozen=True, kw_only=True):
    """The data of an event: the fields that belong to its type, and no others."""

    run_id: str | UnsetType = UNSET
    """All types: the run."""
    chunk_id: str | UnsetType = UNSET
    """`stage`, `progress`: the unit."""
    stage: str | UnsetType = UNSET
    """`stage`, `error`: the stage, such as `rules`, `detect`, `fix` or `draft`."""
    status: Literal["queued", "in_progress", "done", "error"] | UnsetType = UNSET
    """`stage`: the state of the stage."""
    label: str | UnsetType = UNSET
    """`stage`: what a person reads."""
    item_count: Count | UnsetType = UNSET
    """`stage`: the number of items that the stage found."""
    message: str | UnsetType = UNSET
    """`stage`, `error`: what happened."""
    page: AgentItems | UnsetType = UNSET
    """`items`: the page."""
    emitted: Count | UnsetType = UNSET
    """`progress`: the number of units that are done."""
    total: Count | UnsetType = UNSET
    """`progress`: the number of units, as far as they are known."""
    has_more: bool | UnsetType = UNSET
    """`progress`: whether there may be further items."""
    elapsed_ms: float | UnsetType = UNSET
    """`heartbeat`: the time since the work began."""
    completed_at: str | UnsetType = UNSET
    """`complete`: the time, RFC 3339 in UTC with `Z`."""
    retryable: bool | UnsetType = UNSET
    """`error`: whether the same request may succeed later."""
    code: str | UnsetType = UNSET
    """`error`: the code of `error.v1`."""
    completed: bool | UnsetType = UNSET
    """`end`: whether all the work was done."""
    reason: str | UnsetType = UNSET
    """`end`: why it was not."""


class ReviewEvent(Reply, frozen=True, kw_only=True, tag="review_event.v1"):
    """One line of `review --stream`; a reader skips types that it does not know."""

    type: Literal["stage", "items", "progress", "heartbeat", "complete", "error", "end"]
    """The type of this line: `complete` ends the work and `end` the transmission."""
    data: ReviewEventData
    """The data of the event."""
