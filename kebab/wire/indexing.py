"""Declares the progress of an ingest that another process runs."""

from typing import Literal

from msgspec import Struct


class Indexing(Struct, frozen=True, kw_only=True):
    """An ingest that is running now in another process."""

    pid: int | None
    """The process."""
    started_at: str
    """The time when it began, RFC 3339."""
    done: int | None
    """How many files or passages it has finished; null while it scans folders."""
    total: int | None
    """How many files or passages it has to do."""
    unit: Literal["files", "passages"] | None
    """The unit of `done` and `total`: `files` while they are read, then `passages` that get
    vectors."""
    per_second: float | None = None
    """The mean number of files or passages that it finishes in a second; null before the first."""


def format_indexing(indexing: Indexing) -> str:
    """Return the progress in words: `2,695 of 24,020 passages, pid 7`."""
    pid = f"pid {indexing.pid}"
    if indexing.done is None or indexing.total is None:
        return f"scanning folders, {pid}"
    return f"{indexing.done:,} of {indexing.total:,} {indexing.unit}, {pid}"
