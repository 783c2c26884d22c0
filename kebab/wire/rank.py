"""Declares the ranking of lines as wire records."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Count, Positive
from kebab.wire.coverage import Coverage
from kebab.wire.record import Reply, Request
from kebab.wire.search import DegradedChannel, Unit

RankModeName = Literal["hybrid", "lexical"]


class RankedItem(Struct, frozen=True, kw_only=True):
    """One line in its rank."""

    rank: Positive
    """The rank, from 1."""
    score: Unit
    """How well the line fits, comparable only within one result."""
    index: Count
    """The number of the line in the input, from 0; empty lines count."""
    text: str
    """The text that was compared, without the place that ripgrep puts before it."""
    path: str | None
    """The path before the text, as ripgrep prints it; null without one."""
    line: int | None
    """The line number before the text; null without one."""
    item: dict[str, Any] | None
    """The object of a line of JSON, unchanged; null for a line of text."""


class RankResult(Reply, frozen=True, kw_only=True, tag="rank_result.v1"):
    """Lines, the one that fits the query best first."""

    query: str
    """The query."""
    mode: RankModeName
    """The requested mode."""
    items: list[RankedItem]
    """The lines, best first."""
    total: int
    """The number of all lines that were compared."""
    has_more: bool
    """Whether `limit` left out lines."""
    embedding_version: str | None
    """The model that compared meanings; null when only words were compared."""
    degraded: list[DegradedChannel]
    """Why meanings were not compared, or not those of every line."""
    timing_ms: float
    """The duration."""
    coverage: Coverage | None = None
    """What the index covers, of which the lines need nothing; null without an index."""


class RankRequest(Request, frozen=True, kw_only=True, tag="rank_request.v1"):
    """Lines to order by a query, without an index."""

    query: str
    """A question or words."""
    lines: list[str] = msgspec.field(default_factory=list)
    """Lines of text, with or without `path:line:` before them, or JSON objects with a text."""
    mode: RankModeName = "hybrid"
    """Whether to compare meanings too, or words only."""
    limit: Annotated[int, Meta(ge=1)] | None = None
    """The maximum number of lines to return; null means all."""
