"""Runs an ingest over the adapters."""

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from kebab.app.classify import build_view
from kebab.app.context import AppContext
from kebab.app.indexing import watch_progress
from kebab.app.ingest_report import to_ingest_report
from kebab.app.last_hits import list_last_hits
from kebab.app.parsers import build_parsers
from kebab.app.run_embedder import RunEmbedder, add_advice
from kebab.core.documents import STDIN
from kebab.core.progress import Cancel, ProgressCallback
from kebab.errors.catalog import (
    InvalidInput,
    ParseFailed,
    TooLarge,
    UnsupportedMedia,
    UsageInvalid,
)
from kebab.errors.system import resolve_path
from kebab.ingest.job import (
    IngestJob,
    IngestOutcome,
    IngestPorts,
    TextNote,
)
from kebab.text.normalize import escape_undecodable
from kebab.wire.ingest import (
    IngestReport,
    IngestRequest,
    IngestTextRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kebab.core.documents import Source
    from kebab.store.sqlite.writer import SqliteWriter

_STDIN = "<stdin>"


def ingest(
    context: AppContext, request: IngestRequest, report: ProgressCallback, cancel: Cancel
) -> IngestReport:
    """Update the index from the files.

    Raises:
        NotIndexed: The paths are what changed, and there is no index.
        UsageInvalid: There is no path, no workspace and no earlier source.
    """
    from kebab.ingest.run import run_ingest
    from kebab.ingest.scopes import EmptyLibrary, choose_scopes
    from kebab.source.walk import FolderScanner

    job = _build_job(context, request)
    if not request.dry_run:
        context.refuse_when_read_only("ingest")
    if request.changed:
        context.open_reader().close()
    elif not context.database.exists():
        _require_sources(job, ())
        # This refuses paths for which only an empty knowledge base would be created.
        choose_scopes(job, EmptyLibrary(), FolderScanner())
    with _open_ports(context, job, report, cancel) as (ports, publish):
        if not job.changed:
            _require_sources(job, ports.library.list_sources() if ports.library else ())
        with _set_path_of_errors(request.paths[0] if request.paths else ""):
            outcome = run_ingest(job, ports, publish, cancel)
        add_advice(outcome, ports.library)
        return to_ingest_report(_set_paths_of_items(context, outcome), build_view(context.settings))


def ingest_text(
    context: AppContext, request: IngestTextRequest, report: ProgressCallback, cancel: Cancel
) -> IngestReport:
    """Index a text that is not in a file.

    Raises:
        InvalidInput: There is no title.
        TooLarge: The text is above the limit for files.
    """
    from kebab.ingest.stdin import ingest_text as run

    if not request.title.strip():
        raise InvalidInput(field="$.title", cause="empty")
    limit, size = context.settings.ingest.max_file_bytes, len(request.text)
    if 0 < limit < size:
        raise TooLarge(what="stdin", size=size, limit=limit)
    note = TextNote(
        title=escape_undecodable(request.title.strip()),
        text=context.decode_text(request.text, _STDIN),
        source_uri=request.source_uri and escape_undecodable(request.source_uri),
        folder=str(context.paths.stdin_dir),
    )
    job = _build_job(context, IngestRequest(dry_run=request.dry_run))
    with _open_ports(context, job, report, cancel) as (ports, publish):
        with _set_path_of_errors(_STDIN):
            outcome = run(note, job, ports, publish, cancel)
        add_advice(outcome, ports.library)
        return to_ingest_report(outcome, build_view(context.settings))


def _require_sources(job: IngestJob, known: "Sequence[Source]") -> None:
    if not (job.paths or job.workspace or known):
        cause = "nothing to ingest: name a folder or a file, or set `workspace`"
        raise UsageInvalid(option="PATH", cause=cause)


@contextmanager
def _set_path_of_errors(path: str) -> "Iterator[None]":
    """Set the absolute path of the only file of a run in its errors."""
    try:
        yield
    except (ParseFailed, UnsupportedMedia) as signal:
        signal.path = resolve_path(path)
        raise


def _set_paths_of_items(context: AppContext, outcome: IngestOutcome) -> IngestOutcome:
    """Set absolute paths in the errors of files; parsers know only paths below the source."""
    for item in outcome.items:
        if isinstance(item.error, ParseFailed | UnsupportedMedia):
            root = str(context.paths.stdin_dir) if item.source == STDIN else item.source
            item.error.path = resolve_path(item.error.path, root)
    return outcome


def _build_job(context: AppContext, request: IngestRequest) -> IngestJob:
    settings = context.settings
    return IngestJob(
        paths=tuple(request.paths),
        workspace=settings.workspace or None,
        force=request.force,
        vector_seconds=request.vector_seconds,
        dry_run=request.dry_run,
        changed=request.changed,
        rules=context.build_scan_rules(),
        chunker=context.chunker_version,
        deadline_s=settings.ingest.deadline_s,
        max_memory_mb=settings.ingest.max_memory_mb,
        private=context.private_folders,
    )


@contextmanager
def _open_ports(
    context: AppContext, job: IngestJob, report: ProgressCallback, cancel: Cancel
) -> "Iterator[tuple[IngestPorts, ProgressCallback]]":
    """Yield the ports of one run over the open library, and the callback for its progress."""
    with _open_library(context, dry_run=job.dry_run) as library:
        downloads = job.vector_seconds is None
        models = RunEmbedder(context, library, report, cancel, downloads=downloads)
        publish = report if library is None else watch_progress(context, library, report)
        yield _build_ports(context, library, models), publish


def _build_ports(
    context: AppContext, library: "SqliteWriter | None", models: RunEmbedder
) -> IngestPorts:
    from kebab.parse.registry import guard_parser
    from kebab.source.walk import FolderScanner

    return IngestPorts(
        library=library,
        vectors=context.open_vector_table,
        embedder=models.load,
        scanner=FolderScanner(),
        parsers=build_parsers(context.settings),
        guard=guard_parser,
        budget=models.budget,
        clock=context.clock,
        batch=library.batch if library else _no_batch,
        is_model_intact=context.embedders.is_intact,
        repair_model=models.repair,
        list_searched=lambda: list_last_hits(context.settings),
    )


_no_batch: "Callable[[], nullcontext[None]]" = nullcontext


@contextmanager
def _open_library(context: AppContext, *, dry_run: bool) -> "Iterator[SqliteWriter | None]":
    """Yield the library; None for a dry run that would have to create it."""
    if dry_run and not context.database.exists():
        yield None
        return
    with context.open_writer("ingest") as library:
        yield library
