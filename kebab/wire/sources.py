"""Declares sources, the folders that were read, as wire records."""

from typing import Literal

from msgspec import Struct

from kebab.wire.record import Reply, Request

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


class SourceListRequest(Request, frozen=True, kw_only=True, tag="source_list_request.v1"):
    """A request for every source."""


class SourceRmRequest(Request, frozen=True, kw_only=True, tag="source_rm_request.v1"):
    """The source to remove from the index with all of its documents."""

    name: str
    """The name of the source, the path of its folder, or the end of that path."""
    dry_run: bool = False
    """Whether to report only what would be removed."""
