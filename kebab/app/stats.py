"""Counts the work of reviews and translations."""

from typing import TYPE_CHECKING, cast

from kebab.app.timestamps import format_timestamp, parse_time
from kebab.wire.review_runs import ReviewStats, StatsRequest, TierStats

if TYPE_CHECKING:
    from kebab.app.context import AppContext
    from kebab.core.review_store import WorkCounts
    from kebab.wire.review import TierName


def count_review_work(context: "AppContext", request: StatsRequest) -> ReviewStats:
    """Count the work by tier, reviews first; there is none where nothing is stored.

    Raises:
        InvalidInput: `since` cannot be read.
    """
    since = request.since
    start = None if since is None else parse_time(since, "$.since", context.clock.now())
    with context.open_review_store() as store:
        counts = store.count_work(start)
    return ReviewStats(
        since=None if start is None else format_timestamp(start),
        tiers=[_build_tier_stats(one) for one in counts],
    )


def _build_tier_stats(counts: "WorkCounts") -> TierStats:
    requests = counts.requests
    return TierStats(
        kind=counts.kind,
        tier=cast("TierName", counts.tier),
        runs=counts.runs,
        units=counts.units,
        items=counts.items,
        requests=requests,
        items_per_response=counts.answered / requests if requests else 0.0,
        prompt_tokens=counts.prompt_tokens,
        completion_tokens=counts.completion_tokens,
        latency_ms=counts.latency_ms / requests if requests else 0.0,
        downshift_count=counts.downshifts,
        forced_pagination_count=counts.forced_pages,
        cursor_retry_count=counts.cursor_retries,
        json_repair_count=counts.json_repairs,
    )
