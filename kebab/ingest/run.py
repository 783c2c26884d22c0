"""Runs an ingest: scan, plan, store, remove, embed, report."""

from contextlib import suppress
from dataclasses import dataclass, field

from msgspec import structs

from kebab.core.documents import Source
from kebab.core.files import SkipCounts
from kebab.core.ids import compute_digest
from kebab.core.ports import Embedder, LibraryWriter
from kebab.core.progress import Cancel, ProgressCallback, ProgressKind, ignore_progress
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable
from kebab.ingest.build import DocumentBuilder, compute_recipes
from kebab.ingest.commit import DocumentCommitter, build_removed_outcome
from kebab.ingest.job import (
    NO_EMBEDDING,
    FileOutcome,
    IngestJob,
    IngestOutcome,
    IngestPorts,
    ItemKind,
    ProgressReporter,
)
from kebab.ingest.plan import CompareOptions, FileTask, Plan, compare_files
from kebab.ingest.scan import (
    ScanSummary,
    ScopeScan,
    is_single_file,
    scan_scopes,
    store_exempt_files,
)
from kebab.ingest.scopes import EmptyLibrary, LibraryState, choose_scopes
from kebab.ingest.vectors import RunContext, VectorSync
from kebab.text.normalize import escape_undecodable
from kebab.wire.ingest import EmbeddingSummary, SlowFile


@dataclass(slots=True, kw_only=True)
class RunState:
    """What is known of a run so far."""

    request: IngestJob
    surveys: ScanSummary
    plan: Plan
    cancelled: bool
    items: list[FileOutcome] = field(default_factory=list)
    slowest: tuple[SlowFile, ...] = ()
    embedding: EmbeddingSummary = NO_EMBEDDING

    @property
    def scope(self) -> tuple[str, ...]:
        """The places that the run looked at."""
        return tuple(scope.place for scope in self.surveys.scopes)

    def stored(self) -> None:
        """Forget what only storing needed; with many files that is more than all that follows."""
        for survey in self.surveys.looked:
            survey.found.entries.clear()
            survey.known.clear()
        self.plan.work.clear()
        self.plan.touched.clear()
        self.plan.gone.clear()

    def settle(self, committer: DocumentCommitter, side: VectorSync) -> None:
        """Take in what was stored, and share out the vectors among the items."""
        self.items = committer.items
        self.slowest = committer.slowest
        vectors = side.outcome()
        for item in self.items:
            if vectors.version is None:
                item.reused = 0
            if item.doc_id is not None:
                item.embedded = side.tally.embedded.get(item.doc_id, 0)
                item.reused += side.tally.copied.get(item.doc_id, 0)
        kept = sum(item.reused for item in self.items)
        shared = sum(side.tally.copied.get(i.doc_id, 0) for i in self.items if i.doc_id)
        self.embedding = structs.replace(vectors, reused=vectors.reused + kept - shared)


def build_report(told: RunState, elapsed_ms: int) -> IngestOutcome:
    """Return the report."""
    skips = SkipCounts()
    for survey in told.surveys.looked:
        skips.merge(survey.found.skips)
    items = _build_planned_outcomes(told) if told.request.dry_run else told.items
    return IngestOutcome(
        scope=told.scope,
        dry_run=told.request.dry_run,
        scanned=told.plan.files + skips.total + len(told.surveys.refused),
        unchanged=told.plan.unchanged,
        skipped=skips.total,
        cancelled=told.cancelled,
        duration_ms=elapsed_ms,
        skipped_by_reason=dict(sorted(skips.by_reason.items())),
        skipped_by_extension=dict(sorted(skips.by_extension.items())),
        skip_examples={
            reason: [escape_undecodable(name) for name in names]
            for reason, names in skips.examples.items()
        },
        items=told.surveys.refused + items,
        embedding=told.embedding,
        slowest=told.slowest,
    )


def _build_planned_outcomes(told: RunState) -> list[FileOutcome]:
    return [_build_planned_outcome(one) for one in told.plan.work] + [
        build_removed_outcome(one) for one in told.plan.gone
    ]


def _build_planned_outcome(work: FileTask) -> FileOutcome:
    return FileOutcome(
        kind=work.kind,
        doc_path=work.entry.path,
        source=work.source.name,
        doc_id=work.known.doc_id if work.known else None,
    )


def run_ingest(
    request: IngestJob,
    ports: IngestPorts,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
) -> IngestOutcome:
    """Bring the library and its vectors up to date with the files, and return what happened.

    Raises:
        EmbeddingMismatch: The vectors come from another model than the embedder's.
        IoError: A path does not exist, or a root is suddenly empty or missing.
        ParseFailed: The only file named is refused by its parser.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser takes the only file named.
    """
    pulse = ProgressReporter(report, ports.clock)
    pulse.say(ProgressKind.SCAN_STARTED)
    ended = ProgressKind.ABORTED
    try:
        outcome = _Run(request, ports, pulse, cancel or Cancel()).work()
        if not outcome.cancelled:
            ended = ProgressKind.COMPLETED
    finally:
        pulse.say(ended)
    return outcome


class _Run:
    """One run at work."""

    def __init__(
        self, request: IngestJob, ports: IngestPorts, pulse: ProgressReporter, cancel: Cancel
    ) -> None:
        self._request = request
        self._ports = ports
        self._pulse = pulse
        self._cancel = cancel
        self._knowledge: LibraryState = ports.library or EmptyLibrary()
        self._recipes = compute_recipes(ports.parsers, request.chunker)
        self._started = ports.clock.now()

    def work(self) -> IngestOutcome:
        """Do everything; return what came of it."""
        told = self._plan()
        library = self._ports.library
        if self._cancel.requested or self._request.dry_run or library is None:
            return build_report(told, self._pulse.elapsed_ms)
        side = VectorSync(library, self._ports.vectors, self._around())
        embedder = self._embedder(told.plan, library, side)
        if self._request.force:
            side.doubt()
        self._register(told.surveys, library)
        committer = DocumentCommitter(library, self._pulse, self._ports.clock)
        self._store(told.plan, committer, side)
        told.stored()
        if not self._cancel.requested:
            self._follow(side, embedder)
        told.settle(committer, side)
        self._finish(told, library)
        if is_single_file(self._request, told.surveys.scopes):
            _raise_file_error(told)
        return build_report(told, self._pulse.elapsed_ms)

    def _plan(self) -> RunState:
        scopes = choose_scopes(self._request, self._knowledge, self._ports.scanner)
        surveys = scan_scopes(
            scopes,
            self._request,
            self._knowledge,
            self._ports.scanner,
            lambda: self._pulse.beat("scan"),
        )
        total = sum(len(survey.found.entries) for survey in surveys.looked)
        self._pulse.say(ProgressKind.SCAN_COMPLETED, count=(total, total), unit="files")
        how = CompareOptions(
            recipes=self._recipes,
            since={survey.scope.source.name: self._since(survey) for survey in surveys.looked},
            force=self._request.force,
            tick=self._tick,
        )
        plan = compare_files(surveys.looked, how)
        return RunState(
            request=self._request, surveys=surveys, plan=plan, cancelled=self._cancel.requested
        )

    def _tick(self) -> bool:
        self._pulse.beat("compare")
        return self._cancel.requested

    def _since(self, survey: ScopeScan) -> int:
        return int(self._knowledge.get_value(_last_scan_key(survey.scope.source)) or 0)

    def _embedder(self, plan: Plan, library: LibraryWriter, side: VectorSync) -> Embedder | None:
        """Ask for the model when there is something for it to do."""
        if not plan.work and not library.count_pending():
            return None
        self._pulse.say(ProgressKind.HEARTBEAT, phase="model")
        embedder = self._ports.embedder()
        if embedder is not None:
            side.adopt(embedder, rebuild=False)
            side.expect()
            # Who embeds hears of it again, once documents are stored.
            with suppress(DependencyMissing):
                embedder.prepare()
        return embedder

    def _register(self, surveys: ScanSummary, library: LibraryWriter) -> None:
        registered = library.list_sources()
        for survey in surveys.looked:
            if survey.scope.source not in registered:
                library.add_source(survey.scope.source)
            store_exempt_files(library, survey)

    def _store(self, plan: Plan, committer: DocumentCommitter, side: VectorSync) -> None:
        with self._ports.batch():
            committer.touch(plan.touched)
            if plan.work:
                committer.store(plan.work, self._press(), self._cancel)
        gone = plan.gone + committer.vanished
        if gone and not self._cancel.requested:
            side.copy_twins()
            with self._ports.batch():
                committer.remove(gone)

    def _press(self) -> DocumentBuilder:
        return DocumentBuilder(
            parsers=self._ports.parsers,
            guard=self._ports.guard,
            budget=self._ports.budget(),
            chunker=self._request.chunker,
            recipes=self._recipes,
            deadline_s=self._request.deadline_s,
        )

    def _around(self) -> RunContext:
        return RunContext(pulse=self._pulse, clock=self._ports.clock, cancel=self._cancel)

    def _follow(self, side: VectorSync, embedder: Embedder | None) -> None:
        """Let the vectors follow; without a model or an index that work, passages wait."""
        try:
            side.follow(embedder)
        except EmbeddingUnavailable as signal:
            self._without_vectors(signal.cause)
        except DependencyMissing as signal:
            self._without_vectors(signal.format_message())

    def _without_vectors(self, reason: str) -> None:
        message = f"no vectors in this run, words only: {reason}"
        self._pulse.say(ProgressKind.HEARTBEAT, phase="model", message=message)

    def _finish(self, told: RunState, library: LibraryWriter) -> None:
        """Remember the run; one that was interrupted says nothing about what it did not reach."""
        told.cancelled = self._cancel.requested
        if not told.cancelled:
            for survey in told.surveys.looked:
                if survey.scope.whole:
                    since = str(int(self._started * 1_000_000_000))
                    library.set_value(_last_scan_key(survey.scope.source), since)
        changed = sum(item.kind is not ItemKind.ERROR for item in told.items)
        finished = self._ports.clock.now()
        library.record_run(" ".join(told.scope), self._started, finished, changed)
        if changed or told.embedding.embedded or told.embedding.reused:
            library.checkpoint()


def _raise_file_error(told: RunState) -> None:
    """Raise the fault of the only file that was named; there is no run to go on with."""
    for item in told.items:
        if item.error is not None:
            raise item.error


def _last_scan_key(source: Source) -> str:
    return f"scanned:{compute_digest(source.name)}"
