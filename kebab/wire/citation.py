"""Declares citations as wire records: the place of a passage in the user's file.

Each kind of place has its own record.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Freshness = Literal["fresh", "changed", "gone", "published"]
"""How a file compares with what was indexed; `published` files stayed with their publisher."""
ABSENT: tuple[Freshness, ...] = ("gone", "published")
"""The states of files that are not on this machine."""
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
    """The number of the page, from 1."""
    of: Positive


class CellSpan(Struct, frozen=True, kw_only=True):
    """A cell of a notebook, or the cells of a sheet."""

    index: Count
    """The index of the cell in the notebook, or of the sheet in the workbook, from 0."""
    sheet: str | None = None
    """The name of the sheet; null for a notebook."""
    range: str | None = None
    """The cells of the sheet, e.g. `A2:F20`; null for a notebook."""


class SlideSpan(Struct, frozen=True, kw_only=True):
    """A slide of a presentation."""

    number: Positive
    """The number of the slide, from 1."""


class SectionSpan(Struct, frozen=True, kw_only=True):
    """A section of a document that has neither lines nor pages."""

    title: str
    """The heading of the section."""


class CodeSpan(LineSpan, frozen=True, kw_only=True):
    """Lines of source code."""

    symbol: str
    """The function, class or section."""
    language: str


class _Citation(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """The place of a passage in the user's file."""

    schema_version: Literal["citation.v1"] = "citation.v1"
    path: str
    """The path of the document below its source, exactly as on disk."""
    uri: str
    """The path, percent-encoded where needed, with a fragment that names the place."""
    origin: str | UnsetType = UNSET
    """What wrote the passage where a model did, e.g. `caption by llava` or `text read by llava`: it
    may be wrong. Left out for the text of the file itself."""


class LineCitation(_Citation, frozen=True, kw_only=True, tag="line"):
    """Lines of a text file that contain the quoted text."""

    line: LineSpan


class PageCitation(_Citation, frozen=True, kw_only=True, tag="page"):
    """A page."""

    page: PageSpan


class CellCitation(_Citation, frozen=True, kw_only=True, tag="cell"):
    """A notebook cell."""

    cell: CellSpan


class SlideCitation(_Citation, frozen=True, kw_only=True, tag="slide"):
    """A slide."""

    slide: SlideSpan


class SectionCitation(_Citation, frozen=True, kw_only=True, tag="section"):
    """A section."""

    section: SectionSpan


class CodeCitation(_Citation, frozen=True, kw_only=True, tag="code"):
    """Lines of source code with their symbol."""

    code: CodeSpan


Citation = (
    LineCitation | PageCitation | CellCitation | SlideCitation | SectionCitation | CodeCitation
)


class FetchedPlace(Struct, frozen=True, kw_only=True):
    """Where a page, a slide, a cell or rows of a sheet begin in a fetched text."""

    line: int
    """The line of its first line, counted as `start_line` is."""
    uri: str
    """Its citation, which `fetch` takes, e.g. `paper.pdf#page=3`."""
    origin: str | UnsetType = UNSET
    """What wrote its text where a model did, as in the citation."""
