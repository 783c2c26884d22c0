"""Citations: the place of a passage in a person's own file, and how that file is now.

There is one form for each kind of place.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Freshness = Literal["fresh", "changed", "gone"]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]


class LineSpan(Struct, frozen=True, kw_only=True):
    """Lines of a file."""

    start: Positive
    """The first line, 1-based."""
    end: Positive
    """The last line, inclusive."""


class PageSpan(Struct, frozen=True, kw_only=True):
    """A page of a document."""

    number: Positive
    """The page, 1-based."""
    of: Positive
    """How many pages there are."""


class CellSpan(Struct, frozen=True, kw_only=True):
    """A cell of a notebook."""

    index: Annotated[int, Meta(ge=0)]
    """The cell, 0-based."""


class SlideSpan(Struct, frozen=True, kw_only=True):
    """A slide of a presentation."""

    number: Positive
    """The slide, 1-based."""


class SectionSpan(Struct, frozen=True, kw_only=True):
    """A section of a document without lines or pages."""

    title: str
    """Its heading."""


class CodeSpan(Struct, frozen=True, kw_only=True):
    """Lines of source code."""

    start: Positive
    """The first line, 1-based."""
    end: Positive
    """The last line, inclusive."""
    symbol: str
    """The function, class or section."""
    language: str
    """The programming language."""


class _Citation(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """The place of a passage in the person's own file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    """Always `citation.v1`."""
    path: str
    """The document's path below its source, exactly as on disk."""
    uri: str
    """The path, percent-quoted where needed, with a fragment that points at the place."""


class LineCitation(_Citation, frozen=True, kw_only=True, tag="line"):
    """Lines of a text file; the quoted text stands there."""

    line: LineSpan
    """Which lines."""


class PageCitation(_Citation, frozen=True, kw_only=True, tag="page"):
    """A page."""

    page: PageSpan
    """Which page."""


class CellCitation(_Citation, frozen=True, kw_only=True, tag="cell"):
    """A notebook cell."""

    cell: CellSpan
    """Which cell."""


class SlideCitation(_Citation, frozen=True, kw_only=True, tag="slide"):
    """A slide."""

    slide: SlideSpan
    """Which slide."""


class SectionCitation(_Citation, frozen=True, kw_only=True, tag="section"):
    """A section."""

    section: SectionSpan
    """Which section."""


class CodeCitation(_Citation, frozen=True, kw_only=True, tag="code"):
    """Lines of source code with their symbol."""

    code: CodeSpan
    """Which lines of which symbol."""


Citation = (
    LineCitation | PageCitation | CellCitation | SlideCitation | SectionCitation | CodeCitation
)
