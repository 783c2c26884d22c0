"""Contains runs that last as long as the process, for reviews that must not write anything."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kebab.core.review import (
    Position,
    RunSummary,
    StoredDocumentReview,
    StoredPage,
    StoredRun,
    StoredUnit,
    Unit,
    UnitResult,
    WorkCounts,
)

_DAY_S, _MINUTE_S = 86_400, 60


@dataclass
class _Run:
    """A run with all that belongs to it."""

    run: StoredRun
    used: float
    documents: list[StoredDocumentReview] = field(default_factory=list)
    units: dict[int, StoredUnit] = field(default_factory=dict)
    cursors: dict[str, Position] = field(default_factory=dict)
    pages: dict[Position, StoredPage] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)
    """The units that a later part has again."""


class MemoryReviewStore:
    """Implements the port `ReviewStore` in memory."""

    def __init__(self, keep_days: int = 30, *, now: Callable[[], float] = time.time) -> None:
        """Keep runs for `keep_days` days after their last use."""
        self._keep_s = keep_days * _DAY_S
        self._now = now
        self._runs: dict[str, _Run] = {}
        self._work: dict[tuple[int, str], WorkCounts] = {}

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those that were not used within the age limit."""
        oldest = self._now() - self._keep_s
        kept = {name: one for name, one in self._runs.items() if one.used >= oldest}
        self._runs = {**kept, run.run_id: _Run(run, run.created)}

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""
        known = self._runs.get(run_id)
        return known.run if known else None

    def list_runs(self) -> list[RunSummary]:
        """Return every run, the newest first."""
        found = [_summarize(known) for known in reversed(self._runs.values())]
        return sorted(found, key=lambda one: -one.created)

    def add_document(
        self,
        run_id: str,
        document: StoredDocumentReview,
        units: Sequence[Unit],
        results: Sequence[UnitResult] = (),
    ) -> bool:
        """Store the plan of a document with the results of its first units."""
        known = self._runs.get(run_id)
        if known is None or any(one.number == document.number for one in known.documents):
            return False
        known.documents = [
            one._replace(waiting=False) if one.file == document.file else one
            for one in known.documents
        ]
        files = {one.number: one.file for one in known.documents}
        for number, one in known.units.items():
            if document.again and one.unit in units and files[one.document] == document.file:
                known.repeated |= {number} if one.unanswered else set()
                known.units[number] = one._replace(unanswered=False)
        known.documents.append(document)
        for number, unit in enumerate(units, document.first):
            known.units[number] = StoredUnit(number, document.number, unit, None)
        for number, result in enumerate(results, document.first):
            self._store_result(known, number, result)
        return True

    def list_documents(self, run_id: str) -> list[StoredDocumentReview]:
        """Return the documents of a run that have a plan, in order."""
        known = self._runs.get(run_id)
        return sorted(known.documents) if known else []

    def cut_document(self, run_id: str, number: int) -> None:
        """Take the unfinished units out of a part, which is waiting from now on if it had any."""
        known = self._runs.get(run_id)
        if known is None:
            return
        cut = [
            one.number
            for one in known.units.values()
            if one.document == number and one.result is None
        ]
        for unit in cut:
            del known.units[unit]
        known.documents = [
            one._replace(units=one.units - len(cut), waiting=True)
            if cut and one.number == number
            else one
            for one in known.documents
        ]

    def load_unit(self, run_id: str, number: int) -> StoredUnit | None:
        """Return a unit, or None when there is none with this number."""
        known = self._runs.get(run_id)
        return known.units.get(number) if known else None

    def list_units(self, run_id: str, first: int, end: int) -> list[StoredUnit]:
        """Return the units with the numbers [first, end), in order."""
        known = self._runs.get(run_id)
        units = known.units if known else {}
        return [units[number] for number in sorted(units) if first <= number < end]

    def list_unanswered(self, run_id: str) -> list[StoredUnit]:
        """Return the units that the model has to be asked about again, in order."""
        known = self._runs.get(run_id)
        units = known.units if known else {}
        return [units[number] for number in sorted(units) if units[number].unanswered]

    def finish_unit(self, run_id: str, number: int, result: UnitResult) -> UnitResult | None:
        """Store the result of a unit, and return the one that is stored, perhaps an earlier one."""
        known = self._runs.get(run_id)
        unit = known.units.get(number) if known else None
        if known is None or unit is None:
            return None
        if unit.result is None:
            self._store_result(known, number, result)
        return known.units[number].result

    def _store_result(self, known: _Run, number: int, result: UnitResult) -> None:
        now, usage = self._now(), result.usage
        unanswered = usage.unanswered
        known.units[number] = known.units[number]._replace(result=result, unanswered=unanswered)
        known.run, known.used = replace(known.run, updated=now), now
        self._count(
            known.run,
            units=int(not unanswered),
            items=len(result.items),
            answered=len(result.items) if usage.requests else 0,
            requests=usage.requests,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            latency_ms=usage.latency_ms,
            downshifts=usage.downshifts,
            json_repairs=usage.repairs,
        )

    def _count(self, run: StoredRun, **counters: float) -> None:
        """Add to the counters of a run in this minute."""
        key = int(self._now() // _MINUTE_S), run.run_id
        known = self._work.get(key) or _build_counts(run)
        sums = {name: getattr(known, name) + value for name, value in counters.items()}
        self._work[key] = known._replace(**sums)

    def add_cursor(self, run_id: str, cursor: str, position: Position) -> None:
        """Store what a cursor means."""
        if run_id in self._runs:
            self._runs[run_id].cursors.setdefault(cursor, position)

    def find_cursor(self, run_id: str, cursor: str) -> Position | None:
        """Return what a cursor of a run means, or None."""
        known = self._runs.get(run_id)
        return known.cursors.get(cursor) if known else None

    def add_page(self, run_id: str, page: StoredPage) -> StoredPage:
        """Store where a page ends, and return the stored page with the same start."""
        known = self._runs.get(run_id)
        if known is None:
            return page
        known.used = self._now()
        before = known.pages.get(page.start)
        if before is None:
            self._count(known.run, forced_pages=int(page.forced))
            stored = page._replace(retries=0)
        else:
            self._count(known.run, cursor_retries=1)
            stored = before._replace(retries=before.retries + 1)
        known.pages[page.start] = stored
        return stored

    def find_page(self, run_id: str, start: Position) -> StoredPage | None:
        """Return the page that begins at a position, or None."""
        known = self._runs.get(run_id)
        return known.pages.get(start) if known else None

    def delete_run(self, run_id: str) -> bool:
        """Delete a run with all that belongs to it; return whether there was one."""
        return self._runs.pop(run_id, None) is not None

    def count_work(self, since: float | None = None) -> list[WorkCounts]:
        """Return the work since a time, in whole minutes, by kind and tier."""
        minute = 0 if since is None else int(since // _MINUTE_S)
        groups: dict[tuple[str, str], list[tuple[str, WorkCounts]]] = defaultdict(list)
        for (at, run_id), counts in self._work.items():
            if at >= minute:
                groups[counts.kind, counts.tier].append((run_id, counts))
        return [_add_counts(groups[key]) for key in sorted(groups)]


def _summarize(known: _Run) -> RunSummary:
    run, units = known.run, known.units.values()
    worked = [one for one in units if one.result is not None]
    done = [one for one in worked if not one.unanswered and one.number not in known.repeated]
    planned = {one.file for one in known.documents}
    waiting = any(one.waiting for one in known.documents)
    return RunSummary(
        run_id=run.run_id,
        kind=run.kind,
        tier=run.tier,
        model=run.model,
        request=run.request,
        created=run.created,
        updated=run.updated,
        documents=len(run.files),
        units_done=len(done),
        items=sum(len(one.result.items) for one in worked if one.result is not None),
        completed=len(planned) == len(run.files)
        and not waiting
        and len(done) + len(known.repeated) == len(units),
    )


def _build_counts(run: StoredRun) -> WorkCounts:
    return WorkCounts(run.kind, run.tier, *[0] * (len(WorkCounts._fields) - 2))


def _add_counts(counted: list[tuple[str, WorkCounts]]) -> WorkCounts:
    """Return the sums of counters of the same kind and tier."""
    first = counted[0][1]
    sums = [sum(column) for column in zip(*(one[3:] for _, one in counted), strict=True)]
    return WorkCounts(first.kind, first.tier, len({run_id for run_id, _ in counted}), *sums)
