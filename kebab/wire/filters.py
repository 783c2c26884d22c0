"""Declares the filters of requests, and what a reply says about them."""

import msgspec
from msgspec import Struct

from kebab.wire.record import Request


class FilteredRequest(Request, frozen=True, kw_only=True):
    """A request with filters: all must hold, repeated values of one filter are alternatives."""

    tag: list[str] = msgspec.field(default_factory=list)
    """Only documents with one of these tags, or with one below it: `work/kebab` is below `work`."""
    lang: list[str] = msgspec.field(default_factory=list)
    """Only documents in one of these languages, as two-letter codes."""
    media: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these types: a media type such as `text/markdown`, or a name such as
    `markdown`, `pdf`, `docx`, `python`, `code`."""
    path_glob: str | None = None
    """Only documents whose path matches: `*` within a folder, `**` across folders, `?`. A pattern
    without a slash is the name of a file at any depth. Without wildcards it is a file or a folder;
    it may be absolute."""
    source: list[str] = msgspec.field(default_factory=list)
    """Only documents of one of these sources: a name, the path of a folder, or its last part."""
    doc_id: str | None = None
    """Only this document: its id, a unique prefix of its id, or its path."""
    folder: str | None = None
    """Only documents below this folder, an absolute path, in any source."""
    author: list[str] = msgspec.field(default_factory=list)
    """Only documents by one of these authors: a whole name, or whole words of one."""
    links_to: str | None = None
    """Only documents that link to this one: its id, a unique prefix of its id, its path, its title,
    or an alias."""
    since: str | None = None
    """Only documents dated at or after this time: RFC 3339, `YYYY-MM-DD`, or an age like `7d`. The
    date is what the document says of itself, else the time when its file was changed."""
    until: str | None = None
    """Only documents dated before this time; same forms as `since`."""


class UnmatchedFilter(Struct, frozen=True, kw_only=True):
    """A filter because of which no document can be found: alone, or with the others listed."""

    filter: str
    """The field of the request, e.g. `path_glob`."""
    value: str
    """The value that matches nothing."""
    documents: int
    """The number of documents that pass this filter alone; 0 when it is the reason by itself."""
    nearest: list[str]
    """The values that exist and are most like it, the nearest first."""


class IndexRefresh(Struct, frozen=True, kw_only=True):
    """How the index was brought up to date: with a folder, or with what is searched."""

    folder: str
    """The absolute path of the folder of `--in`; empty without it."""
    refreshed: bool
    """Whether the index was brought up to date; otherwise the index as it is was searched."""
    reason: str | None
    """Why the index was not brought up to date; null when it was."""
    new: int = 0
    """The number of new documents."""
    updated: int = 0
    """The number of changed documents."""
    removed: int = 0
    """The number of documents whose file is gone."""
    errors: int = 0
    """The number of files that could not be indexed."""
    pending: int = 0
    """The number of passages of the whole index without a vector; words find them."""
    duration_ms: int = 0
    """The duration of the refresh."""
    checked: int = 0
    """The number of documents that were compared with their files."""
