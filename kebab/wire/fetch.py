"""Declares the request and the reply of fetching references."""

from typing import Annotated

from msgspec import Meta

from kebab.wire.citation import Count, Positive
from kebab.wire.library import FetchResult, NotFound
from kebab.wire.record import Reply, Request


class FetchRequest(Request, frozen=True, kw_only=True, tag="fetch_request.v1"):
    """The places to fetch."""

    refs: Annotated[list[str], Meta(min_length=1)]
    """References in any form that other output shows: `path#L5-L9`, `path:5-9`, a citation URI such
    as `paper.pdf#page=3`, the id of a document or a passage or the start of one, a path, or the end
    of one."""
    context: Count = 0
    """The number of lines to add before and after each place; of pages, slides, cells or rows where
    the reference names such."""
    section: bool = False
    """Whether to fetch the whole section that contains each place: from its heading to the next
    heading of the same or a higher level."""
    max_tokens: Positive | None = None
    """The maximum number of estimated tokens of all texts together; null means no limit."""


class FetchList(Reply, frozen=True, kw_only=True, tag="fetch_list.v1"):
    """The fetched places, one for each reference, in the order of the request."""

    results: list[FetchResult | NotFound]
    """The lines of each reference, or the reply that it names nothing."""
    missing: int
    """The number of references that name nothing."""
    truncated: bool
    """Whether `max_tokens` cut any text; its result has `rest`."""
