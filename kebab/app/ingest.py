"""Runs an ingest over the adapters, and reports what would make files readable."""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from kebab.app.classify import DEFAULT_VIEW, View, build_error_reply, build_view
from kebab.app.context import AppContext
from kebab.app.file_text import build_parsers
from kebab.app.references import list_last_hits
from kebab.config.load import read_locale_language
from kebab.config.settings import is_object_address
from kebab.core.content import UnsupportedFormat, describe_unsupported
from kebab.core.documents import EMBEDDING_VERSION, STDIN, Source
from kebab.core.files import IMAGE, OCR_SETTING
from kebab.core.media import detect_media_type, get_media_type
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.embed.registry import choose_models, describe_better_model
from kebab.errors.catalog import (
    DependencyMissing,
    InvalidInput,
    ParseFailed,
    TooLarge,
    UnsupportedMedia,
    UsageInvalid,
)
from kebab.errors.hints import build_variable_name
from kebab.errors.signal import Signal
from kebab.errors.system import format_install, resolve_path
from kebab.ingest.job import (
    IngestJob,
    IngestOutcome,
    IngestPorts,
    LoadedModel,
    NodeModel,
    SurveyLanguages,
    TextNote,
)
from kebab.store.sqlite.lock import IngestState
from kebab.text.normalize import escape_undecodable
from kebab.wire.coverage import INDEXING_UNITS
from kebab.wire.ingest import (
    IngestReport,
    IngestRequest,
    IngestTextRequest,
    PictureFailure,
    UnreadKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.chunk.budget import Budget
    from kebab.cluster.ray_data import RayCluster
    from kebab.core.ports import Embedder, LibraryWriter
    from kebab.embed.registry import EmbeddingModel
    from kebab.parse.plugin import Formats
    from kebab.store.sqlite.writer import SqliteWriter

_EXAMPLES = 3
_EXTRAS = re.compile(r"\bkebab\[([\w,]+)\]")


def to_ingest_report(outcome: IngestOutcome, view: View = DEFAULT_VIEW) -> IngestReport:
    """Add to the report of a run its errors, worded by `view`, and what makes files readable."""
    errors = iter(outcome.errors)
    items = [
        structs.replace(item, error=build_error_reply(next(errors), operation="ingest", view=view))
        if item.kind == "error"
        else item
        for item in outcome.report.items
    ]
    return structs.replace(
        outcome.report,
        items=items,
        unread=list_unread_kinds(outcome),
        install=build_install(outcome.errors),
        pictures=_group_failures(outcome.pictures, view),
    )


def _group_failures(failures: Iterable[tuple[str, Signal]], view: View) -> list[PictureFailure]:
    """Return the reasons why a model could not read pictures, each once."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    faults: dict[str, Signal] = {}
    for path, fault in failures:
        message = fault.format_message()
        faults.setdefault(message, fault)
        groups[message].append(path)
    return [
        PictureFailure(
            error=build_error_reply(faults[message], operation="ingest", view=view),
            count=len(paths),
            examples=paths[:_EXAMPLES],
        )
        for message, paths in groups.items()
    ]


def list_failures(outcome: IngestOutcome) -> list[tuple[str, Signal]]:
    """Return the paths of the failed items with their errors."""
    failed = [item.doc_path for item in outcome.report.items if item.kind == "error"]
    return list(zip(failed, outcome.errors, strict=True))


def list_unread_kinds(outcome: IngestOutcome) -> list[UnreadKind]:
    """Return the kinds of files that were not read: those with a remedy first, then the most."""
    kinds = [
        *_list_missing_libraries(outcome),
        *_list_pictures(outcome),
        *_list_unsupported(outcome.report),
    ]
    return sorted(kinds, key=lambda kind: (kind.hint is None, -kind.count, kind.label))


def build_install(errors: Iterable[Signal]) -> str | None:
    """Return one command that installs every extra of kebab that the files need."""
    commands = {error.install for error in errors if isinstance(error, DependencyMissing)}
    found = [extras for command in commands for extras in _EXTRAS.findall(command)]
    extras = sorted({extra for names in found for extra in names.split(",")})
    return format_install("kebab", extras) if extras else None


def _list_missing_libraries(outcome: IngestOutcome) -> Iterator[UnreadKind]:
    """Yield the kinds of files whose parser lacks a library."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, error in list_failures(outcome):
        if isinstance(error, DependencyMissing):
            media = detect_media_type(path)
            label = get_media_type(media).label if media else "other"
            groups[label, error.install].append(path)
    for (label, install), paths in groups.items():
        yield UnreadKind(
            reason="library_missing",
            label=label,
            count=len(paths),
            hint=install,
            examples=paths[:_EXAMPLES],
        )


def _list_pictures(outcome: IngestOutcome) -> Iterator[UnreadKind]:
    """Yield the images and scanned documents that are read only with a setting."""
    hint = f"export {build_variable_name(OCR_SETTING)}=true"
    suffixes = [suffix for suffix in outcome.report.skipped_by_extension if _is_image(suffix)]
    if suffixes:
        yield UnreadKind(
            reason="ocr_off",
            label=get_media_type(IMAGE).label,
            count=sum(outcome.report.skipped_by_extension[suffix] for suffix in suffixes),
            hint=hint,
            extensions=suffixes,
            examples=outcome.report.skip_examples.get("ocr_off", [])[:_EXAMPLES],
        )
    scanned = [
        path
        for path, error in list_failures(outcome)
        if isinstance(error, ParseFailed) and error.setting == OCR_SETTING
    ]
    if scanned:
        yield UnreadKind(
            reason="ocr_off",
            label="scanned document",
            count=len(scanned),
            hint=hint,
            examples=scanned[:_EXAMPLES],
        )


def _is_image(suffix: str) -> bool:
    return detect_media_type(f"name{suffix}") == IMAGE


def _list_unsupported(report: IngestReport) -> Iterator[UnreadKind]:
    """Yield the kinds of files that no parser reads."""
    examples = report.skip_examples.get("unsupported", [])
    unread = {
        suffix: count
        for suffix, count in report.skipped_by_extension.items()
        if not _is_image(suffix)
    }
    for kind, suffixes in group_suffixes(unread).items():
        named = [path for path in examples if any(map(path.lower().endswith, suffixes))]
        yield UnreadKind(
            reason="unsupported",
            label=kind.label,
            count=sum(suffixes.values()),
            hint=kind.hint or None,
            extensions=[suffix for suffix in suffixes if suffix],
            examples=named,
        )


def group_suffixes(suffixes: Mapping[str, int]) -> dict[UnsupportedFormat, dict[str, int]]:
    """Return the numbers of files by suffix, grouped by format; unknown suffixes are formats."""
    groups: defaultdict[UnsupportedFormat, dict[str, int]] = defaultdict(dict)
    for suffix, count in sorted(suffixes.items(), key=lambda item: (-item[1], item[0])):
        unknown = UnsupportedFormat(f"{suffix} file" if suffix else "file without an extension")
        groups[describe_unsupported(suffix) or unknown][suffix] = count
    return dict(groups)


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
        if self.context.embedders.choose_model(stored) is None:
            return self._choose(survey())
        return LoadedModel(self._check(self._obtain(stored)))

    def _obtain(
        self, stored: str | None, candidates: "Sequence[EmbeddingModel] | None" = None
    ) -> "Embedder":
        return self.context.embedders.obtain(
            stored, self.report, self.cancel, candidates=candidates, offline=not self.downloads
        )

    def _choose(self, languages: Mapping[str, int]) -> LoadedModel:
        """Choose the model of a knowledge base without vectors.

        Raises:
            EmbeddingUnavailable: No model that serves the text can be had.
        """
        choice = choose_models(languages, read_locale_language())
        chosen = self._obtain(None, choice.models)
        model = self.context.embedders.find_model(chosen.version)
        reason = choice.explain(model)
        self.send_message("model", f"embedding model: {model.key}, because {reason}")
        return LoadedModel(self._check(chosen), reason)

    def _check(self, embedder: "Embedder") -> "Embedder":
        embedder.count_tokens([""])  # loads the tokenizer, which may be damaged
        self.loaded = embedder
        return embedder

    def budget(self) -> "Budget":
        """Return the token limit of a chunk; an embedder counts its own tokens."""
        return self.context.build_budget(self.loaded)

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


def add_advice(report: IngestReport, library: "LibraryWriter | None") -> IngestReport:
    """Add to the report which other model would fit the library better."""
    version = report.embedding.version
    if library is None or version is None or report.embedding.unavailable:
        return report
    advice = describe_better_model(version, library.measure_languages())
    if advice is None:
        return report
    cause, command = advice
    embedding = structs.replace(report.embedding, advice=cause, hint=command)
    return structs.replace(report, embedding=embedding)


INTERVAL_S = 1.0
"""The shortest time between two writes of the progress."""


class ProgressPublisher:
    """A progress callback that also writes counts of files and chunks beside the writer lock."""

    def __init__(
        self,
        report: ProgressCallback,
        publish: Callable[[IngestState], None],
        started: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._report = report
        self._publish = publish
        self._monotonic = monotonic
        self._state = IngestState(started)
        self._due = monotonic() + INTERVAL_S
        publish(self._state)

    def __call__(self, event: Progress) -> None:
        """Report an event, and publish its counts when the last ones are old."""
        self._report(event)
        if event.unit in INDEXING_UNITS and event.done is not None:
            changed = event.unit != self._state.unit
            self._state = IngestState(
                self._state.started,
                event.done,
                event.total,
                event.unit,
                event.per_second,
                event.seconds_left,
            )
            if changed or self._monotonic() >= self._due:
                self._due = self._monotonic() + INTERVAL_S
                self._publish(self._state)


def watch_progress(
    context: AppContext, library: "SqliteWriter", report: ProgressCallback
) -> ProgressPublisher:
    """Return a progress callback that also publishes the counts beside the lock of the library."""
    clock = context.clock
    return ProgressPublisher(report, library.publish, clock.now(), clock.monotonic)


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
    from kebab.ingest.run import run_ingest
    from kebab.ingest.scopes import EmptyLibrary, choose_scopes
    from kebab.parse.plugin import find_formats
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
        from kebab.store.sqlite.sources import load_sources

        _require_sources(job, load_sources(context.paths.data))
        # This refuses paths for which only an empty knowledge base would be created.
        if mirrors:
            mirrors.check()
        if paths := [path for path in request.paths if not is_object_address(path)]:
            named = replace(job, paths=tuple(paths))
            choose_scopes(named, EmptyLibrary(), FolderScanner())
    with _open_ports(context, job, report, cancel, formats) as (ports, publish):
        if not job.changed:
            _require_sources(job, ports.library.list_sources() if ports.library else ())
        job = mirrors.run(job, ports.library) if mirrors else job
        with _set_path_of_errors(request.paths[0] if request.paths else ""):
            outcome = run_ingest(job, ports, publish, cancel)
        # Parsers know only paths below the source.
        failed = [item for item in outcome.report.items if item.kind == "error"]
        for item, error in zip(failed, outcome.errors, strict=True):
            if isinstance(error, ParseFailed | UnsupportedMedia):
                root = str(context.paths.stdin_dir) if item.source == STDIN else item.source
                error.path = resolve_path(error.path, root)
        done = to_ingest_report(outcome, build_view(context.settings))
        faults = list(formats.faults)
        done = structs.replace(done, plugin_faults=faults, objects=mirrors.done if mirrors else [])
        return add_advice(done, ports.library)


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
    job = _build_job(context, IngestRequest(dry_run=request.dry_run))
    with _open_ports(context, job, report, cancel) as (ports, publish):
        with _set_path_of_errors(_STDIN):
            outcome = run(note, job, ports, publish, cancel)
        return add_advice(to_ingest_report(outcome, build_view(context.settings)), ports.library)


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
        parsers, survey_parsers = build_parsers(context, asks=True), build_parsers(context)
        if formats is not None:
            if formats.parsers:
                parsers = {**parsers, **formats.parsers}
                survey_parsers = {**survey_parsers, **formats.parsers}
            if library is not None and not job.dry_run:
                from kebab.parse.plugin import store_formats

                store_formats(library, formats)
        downloads = job.vector_seconds is None
        models = RunEmbedder(context, library, report, cancel, downloads=downloads)
        publish = report if library is None else watch_progress(context, library, report)
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
                    budget=models.budget,
                    clock=context.clock,
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
