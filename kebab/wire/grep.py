"""Declares the request and the reply of a search for a pattern in the indexed files."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Citation, Count, Freshness, Positive
from kebab.wire.coverage import Coverage
from kebab.wire.filters import FilteredRequest, UnmatchedFilter
from kebab.wire.record import Hinted, Reply


class GrepRequest(FilteredRequest, frozen=True, kw_only=True, tag="grep_request.v1"):
    """A pattern, and the files to search. All filters must hold."""

    pattern: str
    """A regular expression in the syntax of Python, or with `fixed` the text itself."""
    paths: list[str] = msgspec.field(default_factory=list)
    """Only documents at one of these paths: a file, a folder, or a pattern as in `path_glob`."""
    fixed: bool = False
    """Whether the pattern is plain text."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""
    word: bool = False
    """Whether only whole words match."""
    files_only: bool = False
    """Whether to return only the files that match; the first match of a file ends its search."""
    count_only: bool = False
    """Whether to return only the files with the number of their matching lines."""
    before: Count = 0
    """The number of lines to return before each matching line."""
    after: Count = 0
    """The number of lines to return after each matching line."""
    max_count: Positive | None = None
    """The maximum number of matching lines of one file; null means all."""
    limit: Positive | None = None
    """The maximum number of matching lines, or of files with `files_only` or `count_only`; null
    means all."""
    max_columns: Annotated[int, Meta(ge=20)] | None = 400
    """The maximum length of a returned line in code points; longer lines are cut around their first
    match. Null means no limit."""


class GrepHit(Struct, frozen=True, kw_only=True):
    """A line that matches."""

    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    line: Positive
    """The number of the line, from 1."""
    column: Positive
    """The position of the first match in the whole line, in code points from 1."""
    text: str
    """The line, perhaps cut."""
    is_cut: bool
    """Whether `text` is only the part of the line around the first match."""
    highlights: list[tuple[int, int]]
    """The matches: [start, end) code points of `text`."""
    before: list[str]
    """The lines before."""
    after: list[str]
    """The lines after."""
    heading_path: list[str]
    """The headings that lead to the line; empty when the file has changed."""
    freshness: Freshness
    """How the file compares with what was indexed."""
    citation: Citation
    """The place of the line."""


class GrepFile(Struct, frozen=True, kw_only=True):
    """A file with matching lines."""

    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    lines: int
    """The number of matching lines; at most 1 with `files_only`."""
    freshness: Freshness
    """How the file compares with what was indexed."""


class SkippedFile(Struct, frozen=True, kw_only=True):
    """A file that could not be searched."""

    doc_path: str
    """The path of the document below its source."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    reason: Literal["gone", "unreadable", "not_text"]
    """Whether it no longer exists, cannot be read, or no longer contains text."""


class GrepResponse(Reply, Hinted, frozen=True, kw_only=True, tag="grep_response.v1"):
    """The lines that match a pattern in the indexed files as they are on disk now."""

    pattern: str
    """The pattern as given."""
    hits: list[GrepHit]
    """The matching lines by source, path and line; empty with `files_only` or `count_only`."""
    files: list[GrepFile]
    """The files with matching lines."""
    matched_lines: int
    """The number of matching lines that were found."""
    searched_files: int
    """The number of files that were searched."""
    skipped: list[SkippedFile]
    """The files that could not be searched."""
    has_more: bool
    """Whether `limit` or `max_count` left out matching lines."""
    corpus_revision: int
    """The revision of the index."""
    timing_ms: float
    """The duration of the search."""
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    """The filters that no document passes, alone or together; empty when files were searched."""
    hint: str | None = None
    """The command that leads on when a filter matches nothing; null without one."""
    coverage: Coverage | None = None
    """What the index covers of the searched sources. Changed files are searched as they are."""
