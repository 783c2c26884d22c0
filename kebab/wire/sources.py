"""Declares sources, and the explanation why files are in the index or not, as wire records."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Count, Freshness, Positive
from kebab.wire.error import ErrorReply
from kebab.wire.record import Hinted, LookupRequest, Reply, Request

FolderState = Literal["present", "empty", "gone"]


class SourceSummary(Struct, frozen=True, kw_only=True):
    """One source."""

    name: str
    """The name that the filter `source` takes."""
    folder: str
    """The absolute path of its folder."""
    kind: Literal["folder", "files", "stdin"]
    """Whether the whole folder is read, only named files of it, or texts from standard input."""
    state: FolderState
    """Whether the folder exists and has entries."""
    documents: int
    """The number of its documents."""
    chunks: int
    """The number of their passages."""
    last_ingest_at: str | None
    """The time when it was last read, RFC 3339; null when it never was."""


class SourceList(Reply, frozen=True, kw_only=True, tag="source_list.v1"):
    """Every source, by name."""

    sources: list[SourceSummary]
    """The sources."""
    workspace: str | None
    """The folder that `kebab ingest` reads in any case; null without one."""


class SourceRemoved(Reply, frozen=True, kw_only=True, tag="source_removed.v1"):
    """The source that `source rm` removed from the index; files are never changed."""

    source: SourceSummary
    """The source as it was."""
    dry_run: bool
    """Whether the command only planned."""
    returns: bool
    """Whether the next ingest adds it again, because it is the workspace."""


class SourceListRequest(
    Request["SourceList"], frozen=True, kw_only=True, tag="source_list_request.v1"
):
    """A request for every source."""


class SourceRmRequest(
    LookupRequest["SourceRemoved"], frozen=True, kw_only=True, tag="source_rm_request.v1"
):
    """The source to remove from the index with all of its documents."""

    name: str
    """The name of the source, the path of its folder, or the end of that path."""
    dry_run: bool = False
    """Whether to report only what would be removed."""


class ExplainPathsRequest(
    Request["PathExplanations"], frozen=True, kw_only=True, tag="explain_paths_request.v1"
):
    """The files or folders to explain."""

    paths: Annotated[list[str], Meta(min_length=1)]
    """Paths of files or folders."""


class SkipRule(Struct, frozen=True, kw_only=True):
    """The rule that leaves a path out."""

    path: str
    """The path that the rule names, below its source: the file, or a folder above it."""
    file: str | None = None
    """The ignore file with the rule; null for a setting and a rule that is built in."""
    line: Positive | None = None
    """The line of the rule in the ignore file."""
    pattern: str | None = None
    """The rule as it is written; null for a rule that is built in."""
    setting: str | None = None
    """The setting that decides, e.g. `ingest.hidden`; null for an ignore file."""


class IndexedState(Struct, frozen=True, kw_only=True):
    """What the index holds of a file."""

    doc_id: str
    """The id of its document."""
    title: str
    """The title."""
    chunk_count: Count
    """The number of passages."""
    indexed_at: str
    """The time when it was indexed, RFC 3339."""
    parser_version: str
    """The parser that read it."""
    freshness: Freshness
    """How the file compares with what was indexed."""
    warnings: list[str]
    """What the parser could not read."""


class PathExplanation(Hinted, frozen=True, kw_only=True):
    """Why a file is in the index or not."""

    path: str
    """The path as given."""
    file: str
    """The absolute path."""
    included: bool
    """Whether the next ingest reads the file or keeps its document; of a folder, whether it looks
    inside."""
    reason: str
    """The reason: `included`, `missing`, `no_source`, a key of `skipped_by_reason` of an ingest
    report, or the code of `error`."""
    message: str
    """One sentence for a person."""
    source: str | None = None
    """The source that the path belongs to; null when it belongs to none."""
    rule: SkipRule | None = None
    """The rule that leaves it out; null without one."""
    size: int | None = None
    """The size of the file in bytes; null for a folder and a path that does not exist."""
    media: str | None = None
    """The media type; null when no parser reads the format."""
    label: str | None = None
    """The format as a person calls it."""
    detected_by: Literal["name", "content"] | None = None
    """How the format was found; null when it was not."""
    parser: str | None = None
    """The version of the parser of the format."""
    indexed: IndexedState | None = None
    """What the index holds of it; null for nothing."""
    error: ErrorReply | None = None
    """Why its text cannot be read; null when it can, or was not tried."""
    hint: str | None = None
    """One next command or step; null when there is nothing to do."""


class PathExplanations(Reply, frozen=True, kw_only=True, tag="path_explanations.v1"):
    """Why files are in the index or not, in the order of the request."""

    paths: list[PathExplanation] = msgspec.field(default_factory=list)
    """One explanation for each path."""
    excluded: int
    """The number of paths that are left out."""
