"""Runs an ingest over the adapters, and explains why a file is not in the index."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from kebab.app.classify import View, build_error_reply
from kebab.app.context import AppContext
from kebab.config.load import read_locale_language
from kebab.config.settings import is_object_address
from kebab.core.documents import EMBEDDING_VERSION, PLUGIN_FORMATS, Source
from kebab.core.files import OCR_SETTING, SECRET_SETTING, ScanResult, cut_root, get_suffix, is_below
from kebab.core.ports import Clock
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.embed.registry import choose_models
from kebab.errors.catalog import InvalidInput, ParseFailed, TooLarge, UnsupportedMedia, UsageInvalid
from kebab.errors.signal import Signal
from kebab.errors.system import escape_undecodable, resolve_path, translate_os_errors
from kebab.ingest.job import (
    IngestJob,
    IngestPorts,
    LoadedModel,
    NodeModel,
    SurveyLanguages,
    TextNote,
)
from kebab.source.content import describe_unsupported
from kebab.store.sqlite.lock import IngestState
from kebab.wire.coverage import INDEXING_UNITS
from kebab.wire.ingest import IngestReport, IngestRequest, IngestTextRequest
from kebab.wire.record import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.cluster.ray_data import RayCluster
    from kebab.core.ports import Embedder
    from kebab.embed.registry import EmbeddingModel
    from kebab.parse.isolation import Formats
    from kebab.store.sqlite.writer import SqliteWriter


_ABSENCES = {
    "ignored": "an ignore file names it",
    "excluded": "the settings or the built-in rules exclude it",
    "hidden": "hidden files are left out",
    "secret": f"files of this name or content usually hold secrets, see `{SECRET_SETTING}`",
    "generated": "a build tool wrote it",
    "ocr_off": f"the text of images is not recognised, see `{OCR_SETTING}`",
    "over_limit": "it is larger than `ingest.max_file_bytes`",
    "unreadable": "there is no permission to read it",
    "special_file": "it is no ordinary file",
}


def explain_absence(
    context: AppContext, name: str, sources: "Sequence[Source]", reply: NotFound
) -> NotFound:
    """Return the reply about a name; that of a file on disk says why the file is not indexed.

    Callers that are not the user of the files learn nothing of the disk.
    """
    from kebab.app.references import resolve_folder_of

    file = resolve_folder_of(name)
    if reply.error.kind == "ambiguous" or not context.is_owner or not os.path.isfile(file):  # noqa: PTH113 - a plain string
        return reply
    roots = [one.root for one in sources if one.kind == "folder" and is_below(file, one.root)]
    why = "no folder that kebab reads contains it"
    if roots:
        why = _find_absence(context, file, max(roots, key=len))
    message = f"not in the index: {reply.name}: {why}"
    return structs.replace(reply, error=structs.replace(reply.error, message=message))


def _find_absence(context: AppContext, file: str, root: str) -> str:
    """Return why a file below the root of a source is not in the index."""
    from kebab.app.file_text import choose_parser, parse_file
    from kebab.parse.containers import read_document
    from kebab.source.ignore import find_skip_reason_from_root
    from kebab.source.walk import FolderScanner

    rules, path, found = context.build_scan_rules(), cut_root(file, root), ScanResult()
    if os.path.islink(file):  # noqa: PTH114 - a plain string
        return "it is a link, out of the folder or to a file that is read anyway"
    FolderScanner().add_named_files(found, root, [path], rules)
    own = any(is_below(file, one) and not is_below(root, one) for one in context.private_folders)
    reason = "excluded" if own else find_skip_reason_from_root(root, rules, path, folder=False)
    reason = reason or next(iter(found.skips.by_reason), None)
    if reason == "unsupported":
        unread = describe_unsupported(get_suffix(file.rpartition("/")[2]))
        return f"kebab does not read {f'a {unread.label}' if unread else 'this format'}"
    if reason is not None or not found.entries:
        return _ABSENCES.get(reason or "", "it cannot be read")
    try:
        parser = choose_parser(context, found.entries[0].media)
        with translate_os_errors(file, "read"):
            parse_file(read_document(file), file, parser)
    except Signal as signal:
        return signal.format_message()
    return "no ingest has read it yet"


@dataclass(slots=True)
class RunEmbedder:
    """Loads the embedder of one run; without one the run indexes words only."""

    context: AppContext
    library: "SqliteWriter | None"
    report: ProgressCallback
    cancel: Cancel
    downloads: bool = True
    loaded: "Embedder | None" = field(default=None, init=False)
    started: float = field(default_factory=time.monotonic, init=False)

    def load(self, survey: SurveyLanguages) -> LoadedModel:
        """Return the embedder, downloaded if necessary; by the languages when none is named.

        Raises:
            EmbeddingUnavailable: There is none.
            DependencyMissing: Its libraries cannot be loaded.
        """
        stored = self.library.get_value(EMBEDDING_VERSION) if self.library else None
        if self.context.embedders.choose_model(stored) is not None:
            return LoadedModel(self._check(self._obtain(stored)))
        choice = choose_models(survey(), read_locale_language())
        chosen = self._obtain(None, choice.models)
        model = self.context.embedders.find_model(chosen.profile.version)
        reason = choice.explain(model)
        self.send_message("model", f"embedding model: {model.key}, because {reason}")
        return LoadedModel(self._check(chosen), reason)

    def _obtain(
        self, stored: str | None, candidates: "Sequence[EmbeddingModel] | None" = None
    ) -> "Embedder":
        return self.context.embedders.obtain(
            stored, self.report, self.cancel, candidates=candidates, offline=not self.downloads
        )

    def _check(self, embedder: "Embedder") -> "Embedder":
        embedder.count_tokens([""])  # loads the tokenizer, which may be damaged
        self.loaded = embedder
        return embedder

    def find_node_model(self) -> NodeModel | None:
        """Return the loaded model for the nodes; None when only this machine runs it."""
        from kebab.embed.onnx_embedder import OnnxEmbedder

        embedder = self.loaded
        if not isinstance(embedder, OnnxEmbedder):
            return None
        deadline_ms = int(self.context.settings.models.embedding.deadline_s * 1000)
        # One thread, because each core of a node has its own process.
        load = partial(OnnxEmbedder, model=embedder.profile, threads=1, deadline_ms=deadline_ms)
        return NodeModel(str(embedder.directory), load)

    def send_message(self, phase: str, message: str) -> None:
        """Send a message about a phase of the run."""
        elapsed_ms = int((time.monotonic() - self.started) * 1000)
        kind = ProgressKind.HEARTBEAT
        self.report(Progress(kind=kind, phase=phase, message=message, elapsed_ms=elapsed_ms))


INTERVAL_S = 1.0
"""The shortest time between two writes of the progress."""


def publish_progress(
    report: ProgressCallback, publish: Callable[[IngestState], None], clock: Clock
) -> ProgressCallback:
    """Return a progress callback that also writes counts of files and chunks beside the lock."""
    state, due = IngestState(clock.now()), clock.monotonic() + INTERVAL_S
    publish(state)

    def pass_on(event: Progress) -> None:
        nonlocal state, due
        report(event)
        if event.unit in INDEXING_UNITS and event.done is not None:
            changed = event.unit != state.unit
            counts = (event.done, event.total, event.unit, event.per_second, event.seconds_left)
            state = IngestState(state.started, *counts)
            if changed or clock.monotonic() >= due:
                due = clock.monotonic() + INTERVAL_S
                publish(state)

    return pass_on


_STDIN = "<stdin>"


def ingest(
    context: AppContext, request: IngestRequest, report: ProgressCallback, cancel: Cancel
) -> IngestReport:
    """Update the index from the files.

    Raises:
        NotIndexed: The paths are what changed, and there is no index.
        UsageInvalid: There is no path, no workspace and no earlier source.
        DependencyMissing, IoError: The store of a named address cannot be read.
    """
    from kebab.ingest.job import EmptyLibrary, choose_scopes
    from kebab.ingest.run import run_ingest
    from kebab.parse.isolation import find_formats
    from kebab.source.walk import FolderScanner

    formats = find_formats(context.settings.plugins)
    job = _build_job(context, request, formats)
    if not request.dry_run:
        context.refuse_when_read_only("ingest")
    mirrors = None
    if any(map(is_object_address, request.paths)) or context.paths.objects_dir.exists():
        from kebab.app.object_sources import MirrorSync

        mirrors = MirrorSync(context, request, job.rules, report, cancel)
    if request.changed:
        context.open_reader().close()
    elif not context.database.exists():
        from kebab.store.sqlite.writer import load_sources

        _require_sources(job, load_sources(context.paths.data))
        # This refuses paths for which only an empty knowledge base would be created.
        if paths := [path for path in request.paths if not is_object_address(path)]:
            named = replace(job, paths=tuple(paths))
            choose_scopes(named, EmptyLibrary(), FolderScanner())
    with _open_ports(context, job, report, cancel, formats) as (ports, publish):
        if not job.changed:
            _require_sources(job, ports.library.list_sources() if ports.library else ())
        job = mirrors.run(job, ports.library) if mirrors else job
        with _set_path_of_errors(request.paths[0] if request.paths else ""):
            done = run_ingest(job, ports, publish, cancel)
        faults = list(formats.faults)
        return structs.replace(done, plugin_faults=faults, objects=mirrors.done if mirrors else [])


def ingest_text(
    context: AppContext, request: IngestTextRequest, report: ProgressCallback, cancel: Cancel
) -> IngestReport:
    """Index a text that is not in a file.

    Raises:
        InvalidInput: There is no title.
        TooLarge: The text is above the limit for files.
    """
    from kebab.ingest.run import ingest_text as run

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
    job = _build_job(context, IngestRequest())
    with _open_ports(context, job, report, cancel) as (ports, publish), _set_path_of_errors(_STDIN):
        return run(note, job, ports, publish, cancel)


def _require_sources(job: IngestJob, known: "Sequence[Source]") -> None:
    if not (job.paths or job.workspace or known):
        cause = "nothing to ingest: name a folder or a file, or set `workspace`"
        raise UsageInvalid(option="PATH", cause=cause)


@contextmanager
def _set_path_of_errors(path: str) -> Iterator[None]:
    """Set the absolute path of the only file of a run in its errors."""
    try:
        yield
    except (ParseFailed, UnsupportedMedia) as signal:
        signal.path = resolve_path(path)
        raise


def _build_job(
    context: AppContext, request: IngestRequest, formats: "Formats | None" = None
) -> IngestJob:
    settings = context.settings
    return IngestJob(
        paths=tuple(request.paths),
        workspace=settings.workspace or None,
        force=request.force,
        vector_seconds=request.vector_seconds,
        dry_run=request.dry_run,
        changed=request.changed,
        rules=context.build_scan_rules(formats and formats.media),
        chunker=context.chunker_version,
        deadline_s=settings.ingest.deadline_s,
        max_memory_mb=settings.ingest.max_memory_mb,
        private=context.private_folders,
    )


@contextmanager
def _open_ports(
    context: AppContext,
    job: IngestJob,
    report: ProgressCallback,
    cancel: Cancel,
    formats: "Formats | None" = None,
) -> Iterator[tuple[IngestPorts, ProgressCallback]]:
    """Yield the ports of one run over the open library, and the callback for its progress."""
    with _open_library(context, dry_run=job.dry_run) as library:
        parsers, survey_parsers = context.build_parsers(asks=True), context.build_parsers()
        if formats is not None:
            if formats.parsers:
                parsers = {**parsers, **formats.parsers}
                survey_parsers = {**survey_parsers, **formats.parsers}
            if library is not None and not job.dry_run:
                # Commands that load no plugin know its media types.
                text = msgspec.json.encode(formats.media).decode() if formats.media else None
                if text != library.get_value(PLUGIN_FORMATS):
                    library.set_value(PLUGIN_FORMATS, text)
        downloads = job.vector_seconds is None
        models = RunEmbedder(context, library, report, cancel, downloads=downloads)
        publish = (
            report if library is None else publish_progress(report, library.publish, context.clock)
        )
        from kebab.app.last_hits import list_last_hits
        from kebab.parse.containers import ContainerFiles
        from kebab.parse.registry import guard_parser
        from kebab.source.walk import FolderScanner

        with _open_cluster(context, models) as cluster:
            yield (
                IngestPorts(
                    library=library,
                    vectors=context.open_vector_table,
                    embedder=models.load,
                    scanner=FolderScanner(),
                    parsers=parsers,
                    survey_parsers=survey_parsers,
                    guard=guard_parser,
                    budget=lambda: context.build_budget(models.loaded),
                    clock=context.clock,
                    describe_error=partial(
                        build_error_reply, operation="ingest", view=View(context.settings.lang)
                    ),
                    batch=library.batch if library else _no_batch,
                    list_searched=lambda: list_last_hits(context.settings),
                    containers=ContainerFiles(),
                    cluster=cluster,
                    node_model=models.find_node_model,
                ),
                publish,
            )


@contextmanager
def _open_cluster(context: AppContext, models: RunEmbedder) -> "Iterator[RayCluster | None]":
    """Yield the cluster of the settings, which connects on first use."""
    address = context.settings.ingest.ray
    if not address:
        yield None
        return
    from kebab.cluster.ray_data import RayCluster

    cluster = RayCluster(address, partial(models.send_message, "cluster"))
    try:
        yield cluster
    finally:
        cluster.close()


_no_batch: "Callable[[], nullcontext[None]]" = nullcontext


@contextmanager
def _open_library(context: AppContext, *, dry_run: bool) -> "Iterator[SqliteWriter | None]":
    """Yield the library; None for a dry run that would have to create it."""
    if dry_run and not context.database.exists():
        yield None
        return
    with context.open_writer("ingest") as library:
        yield library
