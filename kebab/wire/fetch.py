"""Declares the requests and replies that read files: references, outlines, patterns."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.coverage import Coverage
from kebab.wire.library import FetchResult
from kebab.wire.record import (
    Citation,
    Count,
    Freshness,
    Hinted,
    LookupRequest,
    NotFound,
    Positive,
    Reply,
    Request,
)
from kebab.wire.search import FilteredRequest, UnmatchedFilter


class FetchRequest(Request["FetchList"], frozen=True, kw_only=True, tag="fetch_request.v1"):
    """The places to fetch."""

    refs: Annotated[list[str], Meta(min_length=1)]
    """References in any form that other output shows: `path#L5-L9`, `path:5-9`, a citation URI such
    as `paper.pdf#page=3`, the id of a document or a passage or the start of one, a path or the end
    of one, or a file name, title or alias in words."""
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


class OutlineRequest(LookupRequest["Outline"], frozen=True, kw_only=True, tag="outline_request.v1"):
    """The document or the folder to outline."""

    name: str | None = None
    """A document in any form that `fetch` takes, a folder, or a source; null means all sources."""
    depth: Positive | None = None
    """The number of levels: of headings, where null means all, or of folders, where null means
    2."""
    limit: Count | None = 20
    """The maximum number of documents to list of each folder; null means all."""


class OutlineSection(Struct, frozen=True, kw_only=True):
    """A heading with everything below it."""

    ref: str
    """Its reference for `fetch`: its lines, or its heading in a format without lines."""
    level: int
    """The level of the heading, from 1."""
    title: str
    """The text of the heading."""
    declaration: str | None = None
    """The line that declares a symbol of source code; null for a heading."""
    heading_path: list[str]
    """The headings that lead to it, itself included."""
    start_line: Positive
    """The line of the heading, in the file or in its extracted text."""
    end_line: Positive
    """The last line of the section, inclusive."""
    tokens: int
    """The estimated number of tokens of the section."""


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """A folder or a document of a tree."""

    kind: Literal["folder", "document"]
    ref: str
    """Its reference: of a document for `fetch`, of a folder for `outline`."""
    path: str
    """The path below the outlined folder; of a source its absolute path."""
    depth: int
    """The level in the tree, from 0."""
    documents: int
    """The number of documents in it; 1 for a document."""
    chunks: int
    tokens: int
    """A rough number of their tokens, from the sizes of the files."""
    title: str | None = None
    """The title of a document; null for a folder."""
    hidden: int = 0
    """The number of documents of a folder that are left out at this level by `limit`."""


class Outline(Reply, frozen=True, kw_only=True, tag="outline.v1"):
    """The headings of a document, or the tree of a folder."""

    kind: Literal["document", "folder"]
    """`folder` also for a mailbox or an archive, which has the facts of a document, too."""
    ref: str | None
    """The reference of the document or the folder; null for all sources."""
    documents: int
    chunks: int
    tokens: int
    """The estimated number of tokens; rough for a folder."""
    doc_id: str | None = None
    """The id of the document; null for a folder."""
    doc_path: str | None = None
    """The path of the document below its source; null for a folder."""
    file: str | None = None
    """The absolute path of the document; null for a folder and for text from standard input."""
    title: str | None = None
    """The title of the document; null for a folder."""
    line_count: int | None = None
    """The number of lines of the document or of its extracted text; null for a folder."""
    freshness: Freshness | None = None
    """How the file compares with what was indexed; null for a folder."""
    sections: list[OutlineSection] = msgspec.field(default_factory=list)
    """The sections of the document as it is now, or its sheets, slides or cells if it has no
    headings; none for a text file that is gone."""
    entries: list[OutlineEntry] = msgspec.field(default_factory=list)
    """The tree of the folder: each folder before what is in it, folders before documents."""
    hidden: int = 0
    """The number of documents directly in the folder that `limit` leaves out."""
    pages: int | None = None
    """The number of pages or slides of the document; null for other formats and for a folder."""
    coverage: Coverage | None = None
    """What the index covers of the document, of the folder, or of all sources."""


class GrepRequest(
    FilteredRequest["GrepResponse"], frozen=True, kw_only=True, tag="grep_request.v1"
):
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
    doc_path: str
    file: str | None
    line: Positive
    column: Positive
    """The position of the first match in the whole line, in code points from 1."""
    text: str
    """The line, perhaps cut."""
    is_cut: bool
    """Whether `text` is only the part of the line around the first match."""
    highlights: list[tuple[int, int]]
    """The matches: [start, end) code points of `text`."""
    before: list[str]
    after: list[str]
    heading_path: list[str]
    """The headings that lead to the line; empty when the file has changed."""
    freshness: Freshness
    citation: Citation


class GrepFile(Struct, frozen=True, kw_only=True):
    """A file with matching lines."""

    doc_id: str
    doc_path: str
    file: str | None
    lines: int
    """The number of matching lines; at most 1 with `files_only`."""
    freshness: Freshness


class SkippedFile(Struct, frozen=True, kw_only=True):
    """A file that could not be searched."""

    doc_path: str
    file: str | None
    reason: Literal["gone", "unreadable", "not_text"]
    """Whether it no longer exists, cannot be read, or no longer contains text."""


class GrepResponse(Reply, Hinted, frozen=True, kw_only=True, tag="grep_response.v1"):
    """The lines that match a pattern in the indexed files as they are on disk now."""

    pattern: str
    hits: list[GrepHit]
    """The matching lines by source, path and line; empty with `files_only` or `count_only`."""
    files: list[GrepFile]
    matched_lines: int
    searched_files: int
    skipped: list[SkippedFile]
    has_more: bool
    """Whether `limit` or `max_count` left out matching lines."""
    corpus_revision: int
    timing_ms: float
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    hint: str | None = None
    coverage: Coverage | None = None
    """What the index covers of the searched sources. Changed files are searched as they are."""


class OpenReport(Reply, frozen=True, kw_only=True, tag="open_report.v1"):
    """The file that `open` found, and the command that opens it."""

    doc_id: str
    doc_path: str
    file: str
    """The absolute path of the file."""
    line: int
    """The line to open it at, from 1; 1 for a file without lines."""
    command_line: list[str]
    ran: bool
    """Whether the command was run; false with `--print`."""
    page: int | None = None
    """The page to open it at, from 1; null for a file without pages."""
