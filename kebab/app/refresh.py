"""Indexes the documents of hits again whose files changed, for `refresh` of search and ask."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import IoError, Locked, OutOfMemory
from kebab.wire.filters import FilteredRequest, IndexRefresh
from kebab.wire.ingest import IngestRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.wire.ask import AskRequest
    from kebab.wire.ingest import IngestReport
    from kebab.wire.search import SearchRequest, SearchResponse

_VECTOR_SECONDS = 5.0
"""The longest time to wait for vectors; words find the passages that remain."""


def refresh_hits(
    context: AppContext, request: "SearchRequest", response: "SearchResponse"
) -> IndexRefresh:
    """Bring the documents of a page up to date; say why when that is not possible now."""
    files = {hit.file for hit in response.hits if hit.freshness != "fresh"}
    paths = sorted(path for path in files if path is not None)
    checked = len({hit.doc_id for hit in response.hits})
    if not paths:
        return _build_refresh(checked)
    if context.read_only:
        return _build_refresh(checked, "`--read-only`")
    if request.cursor is not None:
        return _build_refresh(checked, "`cursor` continues the index as it was")
    return _index(context, paths, checked)


def refresh_question(
    context: AppContext,
    request: "AskRequest",
    search: "Callable[[AppContext, SearchRequest], SearchResponse]",
) -> IndexRefresh:
    """Bring the documents that a search for a question finds up to date."""
    from kebab.wire.search import SearchRequest

    filters = {name: getattr(request, name) for name in FilteredRequest.__struct_fields__}
    query = SearchRequest(query=request.question, mode=request.mode, limit=request.limit, **filters)
    return refresh_hits(context, query, search(context, query))


def has_changed_index(refresh: IndexRefresh) -> bool:
    """Return whether a search may now find something else."""
    return bool(refresh.new or refresh.updated or refresh.removed)


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
