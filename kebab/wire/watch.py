"""Declares the events and the summary of a watcher of files as wire records."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestReport
from kebab.wire.record import Hinted, Reply

WatchEventKind = Literal["started", "indexed", "waiting", "failed", "polling", "ended"]


class WatchTotals(Struct, frozen=True, kw_only=True):
    """The documents that the runs of a watcher changed."""

    new: int = 0
    """The number of new documents."""
    updated: int = 0
    """The number of changed documents."""
    moved: int = 0
    """The number of documents with another path and the same content."""
    removed: int = 0
    """The number of documents that were removed because their file is gone."""
    errors: int = 0
    """The number of files that could not be indexed."""


class WatchReport(Reply, frozen=True, kw_only=True, tag="watch_report.v1"):
    """The summary of a watcher that ended."""

    folders: list[str]
    """The folders that it followed last."""
    runs: int
    """The number of runs that changed the index or met files with an error."""
    totals: WatchTotals
    """The documents that these runs changed."""
    failures: int
    """The number of runs that failed as a whole; their changes were tried again."""
    polling: bool
    """Whether it looked for changes by scanning, because the system could not report them."""
    interrupted: bool
    """Whether it ended within a run; the next ingest completes what is left."""
    duration_ms: int
    """The time that it watched."""


class WatchEvent(Reply, Hinted, frozen=True, kw_only=True, tag="watch_event.v1"):
    """One event of a watcher; `ended` is the last one."""

    kind: WatchEventKind
    """`started`: it follows changes from now on. `indexed`: a run changed the index. `waiting`:
    another process writes, and the run is tried again. `failed`: a run failed, and it is tried
    again. `polling`: it scans for changes, because the system cannot report them. `ended`: nothing
    follows."""
    folders: list[str] = msgspec.field(default_factory=list)
    """The followed folders, with `started`."""
    report: IngestReport | UnsetType = UNSET
    """The report of the run, with `indexed`."""
    error: ErrorReply | UnsetType = UNSET
    """The reason, with `waiting` and `failed`, and with `ended` when an error ended it."""
    message: str | None = None
    """The reason, with `polling`; else null."""
    hint: str | None = None
    """What helps, with `polling`; null when nothing does."""
    summary: WatchReport | UnsetType = UNSET
    """The summary, with `ended`."""
