"""Brings the index of what is searched up to date, for `refresh` of search and ask."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.coverage import list_outdated_paths
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import IoError, Locked, OutOfMemory
from kebab.wire.filters import FilteredRequest, IndexRefresh
from kebab.wire.ingest import IngestRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.core.queries import Filters
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.ingest import IngestReport

_VECTOR_SECONDS = 5.0
"""The longest time to wait for vectors; words find the passages that remain."""


def refresh_index(
    context: AppContext,
    request: FilteredRequest,
    read_filters: "Callable[[AppContext, SqliteReader, FilteredRequest], Filters]",
) -> IndexRefresh:
    """Index new, changed and unread files of what is searched; say why when that is impossible."""
    with context.open_reader() as reader:
        filters = read_filters(context, reader, request)
        paths, checked = list_outdated_paths(context, reader, filters)
    if not paths:
        return _build_refresh(checked)
    if context.read_only:
        return _build_refresh(checked, "`--read-only`")
    if getattr(request, "cursor", None) is not None:
        return _build_refresh(checked, "`cursor` continues the index as it was")
    return _index(context, paths, checked)


def has_changed_index(refresh: IndexRefresh) -> bool:
    """Return whether a search may now find something else."""
    return bool(refresh.new or refresh.updated or refresh.removed or refresh.errors)


def _index(context: AppContext, paths: list[str], checked: int) -> IndexRefresh:
    from kebab.app.ingest import ingest

    request = IngestRequest(paths=paths, changed=True, vector_seconds=_VECTOR_SECONDS)
    try:
        report = ingest(context, request, ignore_progress, Cancel())
    except (Locked, IoError, OutOfMemory) as signal:
        return _build_refresh(checked, signal.format_message())
    return summarize_report(report, checked=checked)


def summarize_report(report: "IngestReport", *, folder: str = "", checked: int = 0) -> IndexRefresh:
    """Return what a run did before a search, for the reply of that search."""
    return IndexRefresh(
        folder=folder,
        refreshed=True,
        reason=None,
        new=report.new,
        updated=report.updated + report.moved,
        removed=report.removed,
        errors=report.errors,
        pending=report.embedding.pending,
        duration_ms=report.duration_ms,
        checked=checked,
    )


def _build_refresh(checked: int, reason: str | None = None) -> IndexRefresh:
    """Return the outcome of a refresh that indexed nothing; without a reason nothing changed."""
    return IndexRefresh(folder="", refreshed=reason is None, reason=reason, checked=checked)
