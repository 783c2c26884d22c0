"""Declares the arguments of the tools; the docstring of a field is its description in the schema.

An argument that is not declared is refused. Fields without a docstring explain themselves by their
names and values, because the description of all tools is part of the context of every model.
"""

from typing import Annotated

from msgspec import Meta, Struct

from kebab.wire.search import MAX_QUERIES, DetailName

_Positive = Annotated[int, Meta(ge=1)]
_Limit = Annotated[int, Meta(ge=1, le=100)]
_Queries = Annotated[list[str], Meta(min_length=1, max_length=MAX_QUERIES)]
_Refs = Annotated[list[str], Meta(min_length=1, max_length=100)]


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool."""


class SearchArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `search`."""

    queries: str | _Queries
    """A question in plain words, or several wordings or questions together."""
    path: str | None = None
    """Only this file, folder or glob."""
    since: str | None = None
    """Only documents since `2025-01-31` or within `30d`."""
    limit: _Limit = 5
    max_tokens: _Positive = 1200
    detail: DetailName = "passages"
    cursor: str | None = None
    """`next_cursor` of the previous page."""


class ReadArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `read`."""

    refs: str | _Refs
    """References that other tools return, or paths."""
    section: bool = False
    """Return the whole section around each place."""
    max_tokens: _Positive = 2000


class GrepArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `grep`."""

    pattern: str
    path: str | None = None
    fixed: bool = False
    ignore_case: bool = False
    context: Annotated[int, Meta(ge=0, le=20)] = 0
    """Lines around each match."""
    limit: _Limit = 30


class OutlineArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `outline`."""

    ref: str | None = None
    """A document or a folder; all folders when left out."""
    depth: _Positive | None = None


class ExplainArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `explain`."""

    path: str
    """The document or file."""
    query: str | None = None
    """The search that should find it."""


class StatusArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `status`: none."""


class IngestArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `ingest`."""

    paths: list[str] = []
    """Absolute paths; all known folders when left out."""


class AskArguments(Arguments, frozen=True, kw_only=True):
    """The arguments of `ask`."""

    question: str
    path: str | None = None
