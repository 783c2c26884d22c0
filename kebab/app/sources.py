"""Lists the sources, and removes a source with its documents from the index."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.library import build_not_found
from kebab.app.timestamps import format_timestamp
from kebab.core.documents import (
    STDIN,
    AmbiguousName,
    Source,
    SourceCounts,
    build_last_scan_key,
    build_named_files_key,
)
from kebab.search.nearest import find_nearest
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import NotFound
from kebab.wire.sources import (
    FolderState,
    SourceList,
    SourceRemoved,
    SourceRmRequest,
    SourceSummary,
)

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader


def list_sources(context: AppContext) -> SourceList:
    """Return every source.

    Raises:
        NotIndexed: There is no index.
    """
    with context.open_reader() as reader:
        found = context.build_filter_values(reader).count_sources()
        sources = [_summarize(one, reader) for one in found]
    return SourceList(sources=sources, workspace=_find_workspace(context))


def remove_source(context: AppContext, request: SourceRmRequest) -> SourceRemoved | NotFound:
    """Remove a source with its documents; a dry run only says what would be removed.

    Raises:
        ReadOnly: Writing is switched off.
        NotIndexed: There is no index.
    """
    if not request.dry_run:
        context.refuse_when_read_only("source rm")
    with context.open_reader() as reader:
        found = _find_source(context, reader, request.name)
        if isinstance(found, NotFound):
            return found
        summary = _summarize(found, reader)
    removed = SourceRemoved(
        source=summary,
        dry_run=request.dry_run,
        returns=summary.kind == "folder" and summary.folder == _find_workspace(context),
    )
    return removed if request.dry_run else _remove(context, removed)


def _remove(context: AppContext, planned: SourceRemoved) -> SourceRemoved:
    """Remove the source, and the texts that kebab stored for it."""
    name, folder = planned.source.name, planned.source.folder
    with context.open_writer("source rm") as library:
        paths = list(library.load_known_documents(name)) if name == STDIN else []
        chunks = library.remove_source(name)
        for key in (build_last_scan_key(name), build_named_files_key(name)):
            library.set_value(key, None)
    for path in paths:
        Path(folder, path).unlink(missing_ok=True)
    return structs.replace(planned, source=structs.replace(planned.source, chunks=chunks))


def _find_source(context: AppContext, reader: "SqliteReader", name: str) -> SourceCounts | NotFound:
    """Return the source of a name, of a path, or of the end of a path."""
    # Filters need most of search, and a list of sources does not.
    from kebab.app.filters import resolve_source_names

    values = context.build_filter_values(reader)
    sources = {one.source.name: one for one in values.count_sources()}
    name = escape_undecodable(name)
    names = resolve_source_names(name, [one.source for one in sources.values()])
    if len(names) > 1:
        return build_not_found(name, "source", AmbiguousName(tuple(names)))
    if names[0] in sources:
        return sources[names[0]]
    missing = build_not_found(name, "source")
    ends = {Path(one).name: one for one in sources}
    near = [ends[end] for end in find_nearest(Path(name).name, ends)]
    return structs.replace(missing, error=structs.replace(missing.error, candidates=near))


def _summarize(counts: SourceCounts, reader: "SqliteReader") -> SourceSummary:
    source = counts.source
    scanned = int(reader.get_value(build_last_scan_key(source.name)) or 0) / 1e9
    last = max(scanned, counts.last_indexed or 0.0)
    return SourceSummary(
        name=source.name,
        folder=source.root,
        kind=source.kind,
        state=_check_folder(source),
        documents=counts.documents,
        chunks=counts.chunks,
        last_ingest_at=format_timestamp(last) if last else None,
    )


def _check_folder(source: Source) -> FolderState:
    """Return whether the folder of a source exists and has entries."""
    try:
        with os.scandir(source.root) as entries:
            return "present" if next(entries, None) else "empty"
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:  # it exists and cannot be listed
        return "present"


def list_lost_sources(context: AppContext) -> list[SourceCounts]:
    """Return the sources whose folder is gone, or empty although it had documents."""
    with context.open_reader() as reader:
        found = context.build_filter_values(reader).count_sources()
    return [one for one in found if _is_lost(one)]


def _is_lost(counts: SourceCounts) -> bool:
    """Return whether the folder of a source is gone, or empty although it had documents."""
    if counts.source.kind == "stdin":
        return False
    state = _check_folder(counts.source)
    return state == "gone" or (state == "empty" and counts.documents > 0)


def _find_workspace(context: AppContext) -> str | None:
    workspace = context.settings.workspace
    return os.path.realpath(os.path.expanduser(workspace)) if workspace else None  # noqa: PTH111 - as ingest resolves it
