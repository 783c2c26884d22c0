"""The report of a run, gathered from what each step did."""

from dataclasses import dataclass, field

from msgspec import structs

from kebab.ingest.commit import Committer, removed
from kebab.ingest.moves import Work
from kebab.ingest.outcome import (
    NO_EMBEDDING,
    FileOutcome,
    IngestOutcome,
)
from kebab.ingest.plan import Plan
from kebab.ingest.request import IngestRequest
from kebab.ingest.surveying import Surveys
from kebab.ingest.vectors import VectorSide
from kebab.source.skips import Skips
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
    skips = Skips()
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
        skip_examples=skips.examples,
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
