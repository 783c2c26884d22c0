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
from kebab.ingest.commit import DocumentCommitter
from kebab.ingest.job import (
    NO_EMBEDDING,
    FileOutcome,
    IngestJob,
    IngestOutcome,
    IngestPorts,
    ItemKind,
    RunContext,
)
from kebab.ingest.plan import CompareOptions, Plan, compare_files
from kebab.ingest.scan import ScanSummary, is_single_file, scan_scopes, store_exempt_files
from kebab.ingest.scopes import EmptyLibrary, LibraryState, choose_scopes
from kebab.ingest.vectors import VectorSync
from kebab.text.normalize import escape_undecodable
from kebab.wire.ingest import EmbeddingSummary, SlowFile


@dataclass(slots=True, kw_only=True)
class RunState:
    """The results of a run so far."""

    job: IngestJob
    summary: ScanSummary
    plan: Plan
    cancelled: bool
    items: list[FileOutcome] = field(default_factory=list)
    slowest: tuple[SlowFile, ...] = ()
    embedding: EmbeddingSummary = NO_EMBEDDING

    @property
    def scope(self) -> tuple[str, ...]:
        """The absolute paths that the run scanned."""
        return tuple(scope.location for scope in self.summary.scopes)

    def release_files(self) -> None:
        """Free the records of files before embedding, which needs the memory more."""
        for scan in self.summary.scans:
            scan.found.entries.clear()
            scan.known.clear()
        self.plan.tasks.clear()
        self.plan.touched.clear()
        self.plan.missing.clear()

    def add_results(self, committer: DocumentCommitter, vectors: VectorSync) -> None:
        """Add the outcomes of the files, with the vectors of each."""
        self.items = committer.items
        self.slowest = committer.slowest
        embedding, counts = vectors.build_summary(), vectors.counts
        kept = 0
        for item in self.items:
            if embedding.version is None:
                item.reused = 0
            kept += item.reused
            if item.doc_id is not None:
                item.embedded = counts.embedded.get(item.doc_id, 0)
                item.reused += counts.copied.get(item.doc_id, 0)
        self.embedding = structs.replace(embedding, reused=embedding.reused + kept)


def build_report(state: RunState, elapsed_ms: int) -> IngestOutcome:
    """Build the outcome of a run."""
    skips = SkipCounts()
    for scan in state.summary.scans:
        skips.merge(scan.found.skips)
    items = state.items
    if state.job.dry_run:
        items = [task.to_outcome() for task in state.plan.tasks]
        items += [document.to_outcome() for document in state.plan.missing]
    return IngestOutcome(
        scope=state.scope,
        dry_run=state.job.dry_run,
        scanned=state.plan.files + skips.total + len(state.summary.failures),
        unchanged=state.plan.unchanged,
        skipped=skips.total,
        cancelled=state.cancelled,
        duration_ms=elapsed_ms,
        skipped_by_reason=dict(sorted(skips.by_reason.items())),
        skipped_by_extension=dict(sorted(skips.by_extension.items())),
        skip_examples={
            reason: [escape_undecodable(name) for name in names]
            for reason, names in skips.examples.items()
        },
        items=state.summary.failures + items,
        embedding=state.embedding,
        slowest=state.slowest,
    )


def run_ingest(
    job: IngestJob,
    ports: IngestPorts,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
) -> IngestOutcome:
    """Bring the library and its vectors up to date with the files.

    Raises:
        EmbeddingMismatch: The vectors come from another model than the embedder's.
        IoError: A path does not exist, or a root is suddenly empty or missing.
        ParseFailed: The parser refuses the only file named.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser reads the only file named.
    """
    context = RunContext(report, ports.clock, cancel or Cancel())
    context.reporter.send(ProgressKind.SCAN_STARTED)
    ended = ProgressKind.ABORTED
    try:
        outcome = _Run(job, ports, context).execute()
        if not outcome.cancelled:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return outcome


class _Run:
    def __init__(self, job: IngestJob, ports: IngestPorts, context: RunContext) -> None:
        self._job = job
        self._ports = ports
        self._reporter = context.reporter
        self._context = context
        self._library_state: LibraryState = ports.library or EmptyLibrary()
        self._recipes = compute_recipes(ports.parsers, job.chunker)
        self._started = ports.clock.now()

    def execute(self) -> IngestOutcome:
        """Run all steps."""
        state = self._plan()
        library, cancel = self._ports.library, self._context.cancel
        if cancel.requested or self._job.dry_run or library is None:
            return build_report(state, self._reporter.elapsed_ms)
        vectors = VectorSync(library, self._ports.vectors, self._context)
        embedder = self._load_embedder(state.plan, library, vectors)
        if self._job.force:
            vectors.verify_all()
        self._register_sources(state.summary, library)
        committer = DocumentCommitter(library, self._context)
        self._store_changes(state.plan, committer, vectors)
        state.release_files()
        if not cancel.requested:
            self._update_vectors(vectors, embedder)
        state.add_results(committer, vectors)
        self._record_run(state, library)
        if is_single_file(self._job, state.summary.scopes):
            _raise_file_error(state)
        return build_report(state, self._reporter.elapsed_ms)

    def _plan(self) -> RunState:
        job, library, scanner = self._job, self._library_state, self._ports.scanner
        scopes = choose_scopes(job, library, scanner)
        summary = scan_scopes(
            scopes, job, library, scanner, lambda: self._reporter.send_heartbeat("scan")
        )
        total = sum(len(scan.found.entries) for scan in summary.scans)
        self._reporter.send(ProgressKind.SCAN_COMPLETED, count=(total, total), unit="files")
        sources = [scan.scope.source for scan in summary.scans]
        options = CompareOptions(
            recipes=self._recipes,
            last_scans={
                source.name: int(library.get_value(_last_scan_key(source)) or 0)
                for source in sources
            },
            force=job.force,
            should_stop=self._should_stop,
        )
        plan = compare_files(summary.scans, options)
        cancelled = self._context.cancel.requested
        return RunState(job=job, summary=summary, plan=plan, cancelled=cancelled)

    def _should_stop(self) -> bool:
        self._reporter.send_heartbeat("compare")
        return self._context.cancel.requested

    def _load_embedder(
        self, plan: Plan, library: LibraryWriter, vectors: VectorSync
    ) -> Embedder | None:
        """Load the model when it has something to embed."""
        if not plan.tasks and not library.count_pending():
            return None
        self._reporter.send(ProgressKind.HEARTBEAT, phase="model")
        embedder = self._ports.embedder()
        if embedder is not None:
            vectors.set_model(embedder, rebuild=False)
            vectors.prepare_index()
            # The embedding step raises it again, after the documents are stored.
            with suppress(DependencyMissing):
                embedder.prepare()
        return embedder

    def _register_sources(self, summary: ScanSummary, library: LibraryWriter) -> None:
        registered = library.list_sources()
        for scan in summary.scans:
            if scan.scope.source not in registered:
                library.add_source(scan.scope.source)
            store_exempt_files(library, scan)

    def _store_changes(self, plan: Plan, committer: DocumentCommitter, vectors: VectorSync) -> None:
        with self._ports.batch():
            committer.touch(plan.touched)
            if plan.tasks:
                committer.store(plan.tasks, self._make_builder())
        missing = plan.missing + committer.missing
        if missing and not self._context.cancel.requested:
            vectors.copy_equal_vectors()
            with self._ports.batch():
                committer.remove(missing)

    def _make_builder(self) -> DocumentBuilder:
        return DocumentBuilder(
            parsers=self._ports.parsers,
            guard=self._ports.guard,
            budget=self._ports.budget(),
            chunker=self._job.chunker,
            recipes=self._recipes,
            deadline_s=self._job.deadline_s,
        )

    def _update_vectors(self, vectors: VectorSync, embedder: Embedder | None) -> None:
        """Embed what is pending; without a working model or index, chunks stay pending."""
        try:
            vectors.update(embedder)
        except (EmbeddingUnavailable, DependencyMissing) as error:
            reason = (
                error.cause if isinstance(error, EmbeddingUnavailable) else error.format_message()
            )
            message = f"no vectors in this run, words only: {reason}"
            self._reporter.send(ProgressKind.HEARTBEAT, phase="model", message=message)

    def _record_run(self, state: RunState, library: LibraryWriter) -> None:
        """Record the run; a cancelled one records no scan, because files may be left over."""
        state.cancelled = self._context.cancel.requested
        if not state.cancelled:
            for scan in state.summary.scans:
                if scan.scope.is_whole:
                    started_ns = str(int(self._started * 1_000_000_000))
                    library.set_value(_last_scan_key(scan.scope.source), started_ns)
        changed = sum(item.kind is not ItemKind.ERROR for item in state.items)
        finished = self._ports.clock.now()
        library.record_run(" ".join(state.scope), self._started, finished, changed)
        if changed or state.embedding.embedded or state.embedding.reused:
            library.checkpoint()


def _raise_file_error(state: RunState) -> None:
    """Raise the error of the only file that the user named."""
    for item in state.items:
        if item.error is not None:
            raise item.error


def _last_scan_key(source: Source) -> str:
    return f"scanned:{compute_digest(source.name)}"
