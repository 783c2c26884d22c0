"""Renders the counters of reviews and translations."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kebab.cli.render.canvas import Canvas, format_duration, format_tabs
from kebab.wire.review_runs import ReviewStats, TierStats

_MINUTE = len("2025-01-31T12:00")
_MINIMUM = 7
"""The width of a column."""


def _count(value: int) -> str:
    return f"{value:,}"


_ROWS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("runs", "runs", _count),
    ("parts of text", "units", _count),
    ("findings", "items", _count),
    ("requests", "requests", _count),
    ("findings per response", "items_per_response", "{:.1f}".format),
    ("tokens read", "prompt_tokens", _count),
    ("tokens written", "completion_tokens", _count),
    ("time of a request", "latency_ms", lambda value: format_duration(value / 1000)),
    ("lower limits", "downshift_count", _count),
    ("pages cut short", "forced_pagination_count", _count),
    ("pages asked again", "cursor_retry_count", _count),
    ("responses repaired", "json_repair_count", _count),
)
"""The label, the field and the format of each row."""

_OF_REQUESTS = frozenset(("items_per_response", "prompt_tokens", "completion_tokens", "latency_ms"))
"""What has no value without a request."""


def render_stats(reply: ReviewStats, canvas: Canvas) -> Iterator[str]:
    """Yield a table with a column per tier; in a pipe one line per tier with tabs."""
    if canvas.width is None:
        for tier in reply.tiers:
            yield format_tabs(*map(_write_field, msgspec.structs.astuple(tier)))
        return
    since = f" since {reply.since[:_MINUTE].replace('T', ' ')} UTC" if reply.since else ""
    if not reply.tiers:
        yield f"no reviews and no translations{since}"
        return
    if since:
        yield f"work{since}"
        yield ""
    widths = [max(_MINIMUM, len(tier.tier), *map(len, _list_values(tier))) for tier in reply.tiers]
    label = max(len(name) for name, _, _ in _ROWS)
    heads = [f"{tier.tier:>{width}}" for tier, width in zip(reply.tiers, widths, strict=True)]
    yield canvas.dim("  ".join([" " * label, *heads]))
    columns = [_list_values(tier) for tier in reply.tiers]
    for index, (name, _, _) in enumerate(_ROWS):
        values = [
            f"{column[index]:>{width}}" for column, width in zip(columns, widths, strict=True)
        ]
        yield "  ".join([f"{name:<{label}}", *values])


def _write_field(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _list_values(tier: TierStats) -> list[str]:
    """Return the values of a tier in the order of the rows."""
    return [
        "-" if name in _OF_REQUESTS and not tier.requests else form(getattr(tier, name))
        for _, name, form in _ROWS
    ]
