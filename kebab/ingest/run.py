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
from kebab.ingest.build import Press, recipes
from kebab.ingest.commit import Committer, removed
from kebab.ingest.job import (
    NO_EMBEDDING,
    FileOutcome,
    IngestOutcome,
    IngestPorts,
    IngestRequest,
    ItemKind,
    Pulse,
)
from kebab.ingest.plan import Comparison, Plan, Work, compare
from kebab.ingest.scan import Survey, Surveys, keep_memory, only_file, survey_all
from kebab.ingest.scopes import Knowledge, Nothing, choose
from kebab.ingest.vectors import Around, VectorSide
from kebab.text.normalize import escape_undecodable
from kebab.wire.ingest import EmbeddingSummary, SlowFile


@dataclass(slots=True, kw_only=True)
class Told:
    """What is known of a run so far."""

    request: IngestRequest
    surveys: Surveys
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

    def settle(self, committer: Committer, side: VectorSide) -> None:
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


def tell(told: Told, elapsed_ms: int) -> IngestOutcome:
    """Return the report."""
    skips = SkipCounts()
    for survey in told.surveys.looked:
        skips.merge(survey.found.skips)
    items = _planned(told) if told.request.dry_run else told.items
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


def _planned(told: Told) -> list[FileOutcome]:
    return [_intended(one) for one in told.plan.work] + [removed(one) for one in told.plan.gone]


def _intended(work: Work) -> FileOutcome:
    return FileOutcome(
        kind=work.kind,
        doc_path=work.entry.path,
        source=work.source.name,
        doc_id=work.known.doc_id if work.known else None,
    )


def run(
    request: IngestRequest,
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
    pulse = Pulse(report, ports.clock)
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
        self, request: IngestRequest, ports: IngestPorts, pulse: Pulse, cancel: Cancel
    ) -> None:
        self._request = request
        self._ports = ports
        self._pulse = pulse
        self._cancel = cancel
        self._knowledge: Knowledge = ports.library or Nothing()
        self._recipes = recipes(ports.parsers, request.chunker)
        self._started = ports.clock.now()

    def work(self) -> IngestOutcome:
        """Do everything; return what came of it."""
        told = self._plan()
        library = self._ports.library
        if self._cancel.requested or self._request.dry_run or library is None:
            return tell(told, self._pulse.elapsed_ms)
        side = VectorSide(library, self._ports.vectors, self._around())
        embedder = self._embedder(told.plan, library, side)
        if self._request.force:
            side.doubt()
        self._register(told.surveys, library)
        committer = Committer(library, self._pulse, self._ports.clock)
        self._store(told.plan, committer, side)
        told.stored()
        if not self._cancel.requested:
            self._follow(side, embedder)
        told.settle(committer, side)
        self._finish(told, library)
        if only_file(self._request, told.surveys.scopes):
            _raise_its_error(told)
        return tell(told, self._pulse.elapsed_ms)

    def _plan(self) -> Told:
        scopes = choose(self._request, self._knowledge, self._ports.scanner)
        surveys = survey_all(
            scopes,
            self._request,
            self._knowledge,
            self._ports.scanner,
            lambda: self._pulse.beat("scan"),
        )
        total = sum(len(survey.found.entries) for survey in surveys.looked)
        self._pulse.say(ProgressKind.SCAN_COMPLETED, count=(total, total), unit="files")
        how = Comparison(
            recipes=self._recipes,
            since={survey.scope.source.name: self._since(survey) for survey in surveys.looked},
            force=self._request.force,
            tick=self._tick,
        )
        plan = compare(surveys.looked, how)
        return Told(
            request=self._request, surveys=surveys, plan=plan, cancelled=self._cancel.requested
        )

    def _tick(self) -> bool:
        self._pulse.beat("compare")
        return self._cancel.requested

    def _since(self, survey: Survey) -> int:
        return int(self._knowledge.get_value(_since_name(survey.scope.source)) or 0)

    def _embedder(self, plan: Plan, library: LibraryWriter, side: VectorSide) -> Embedder | None:
        """Ask for the model when there is something for it to do."""
        if not plan.work and not library.pending_count():
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

    def _register(self, surveys: Surveys, library: LibraryWriter) -> None:
        registered = library.sources()
        for survey in surveys.looked:
            if survey.scope.source not in registered:
                library.add_source(survey.scope.source)
            keep_memory(library, survey)

    def _store(self, plan: Plan, committer: Committer, side: VectorSide) -> None:
        with self._ports.batch():
            committer.touch(plan.touched)
            if plan.work:
                committer.store(plan.work, self._press(), self._cancel)
        gone = plan.gone + committer.vanished
        if gone and not self._cancel.requested:
            side.copy_twins()
            with self._ports.batch():
                committer.remove(gone)

    def _press(self) -> Press:
        return Press(
            parsers=self._ports.parsers,
            guard=self._ports.guard,
            worker_module=self._ports.worker_module,
            budget=self._ports.budget(),
            chunker=self._request.chunker,
            recipes=self._recipes,
            deadline_s=self._request.deadline_s,
        )

    def _around(self) -> Around:
        return Around(pulse=self._pulse, clock=self._ports.clock, cancel=self._cancel)

    def _follow(self, side: VectorSide, embedder: Embedder | None) -> None:
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

    def _finish(self, told: Told, library: LibraryWriter) -> None:
        """Remember the run; one that was interrupted says nothing about what it did not reach."""
        told.cancelled = self._cancel.requested
        if not told.cancelled:
            for survey in told.surveys.looked:
                if survey.scope.whole:
                    since = str(int(self._started * 1_000_000_000))
                    library.set_value(_since_name(survey.scope.source), since)
        changed = sum(item.kind is not ItemKind.ERROR for item in told.items)
        finished = self._ports.clock.now()
        library.note_run(" ".join(told.scope), self._started, finished, changed)
        if changed or told.embedding.embedded or told.embedding.reused:
            library.checkpoint()


def _raise_its_error(told: Told) -> None:
    """Raise the fault of the only file that was named; there is no run to go on with."""
    for item in told.items:
        if item.error is not None:
            raise item.error


def _since_name(source: Source) -> str:
    return f"scanned:{compute_digest(source.name)}"
