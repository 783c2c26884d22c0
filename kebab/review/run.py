"""Works on the units of a stored run in order, and plans each document when it is reached."""

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from kebab.core.review import Unit, UnitResult
from kebab.core.review_store import StoredDocumentReview, StoredRun, StoredUnit
from kebab.errors.catalog import (
    InvalidInput,
    IoError,
    ParseFailed,
    StaleCursor,
    TooLarge,
    UnsupportedMedia,
)
from kebab.review.document import ReviewDocument
from kebab.review.run_reporter import RunReporter
from kebab.review.worker import MODEL_FAILURES, RunPorts, needs_model

if TYPE_CHECKING:
    from kebab.errors.signal import Signal

_UNREAD = ""
"""The content hash of a document that could not be read, and so has no units."""

_UNREADABLE = (IoError, ParseFailed, TooLarge, UnsupportedMedia)


class RunStopped(Exception):  # noqa: N818 - no error: the next request continues the work
    """The caller stopped the work between two units."""


class RunUnits:
    """The units of a run, each finished when it is first needed.

    When the language model fails, the other units of the document are cut off, and the rules
    continue alone; `failure` is then the reason. The next request tries the model again.
    """

    def __init__(self, run: StoredRun, ports: RunPorts, reporter: RunReporter) -> None:
        self.failure: Signal | None = None
        self._run = run
        self._ports = ports
        self._reporter = reporter
        self._store = ports.store
        self._parts: list[StoredDocumentReview] = []
        self._read_parts()
        self._document: tuple[int, ReviewDocument] | None = None
        self._plan: tuple[int, list[Unit]] | None = None
        self._fresh: dict[int, StoredUnit] = {}

    @property
    def asks_model(self) -> bool:
        """Whether the language model is asked at present."""
        return self._ports.full is not None and self.failure is None

    @property
    def is_unfinished(self) -> bool:
        """Whether units of the run are still to be worked on, planned or not."""
        if self._next_file < len(self._run.files) or any(part.waiting for part in self._parts):
            return True
        # Units are finished in order, so the last one tells.
        last = next((part for part in reversed(self._parts) if part.units), None)
        unit = last and self._store.load_unit(self._run.run_id, last.first + last.units - 1)
        return unit is not None and unit.result is None

    def find_part(self, number: int) -> StoredDocumentReview | None:
        """Return the part with this unit, or the next one with units; plan it if necessary.

        Returns None behind the last unit of the run.

        Raises:
            RunStopped: The caller stopped the work.
            IoError: The only document cannot be read.
        """
        while (part := self._find_planned(number)) is None:
            if not self._plan_next():
                return None
        return part

    def has_part(self, number: int) -> bool:
        """Return whether there is, or will be, a part with this unit or a later one."""
        if self._find_planned(number) is not None or self._next_file < len(self._run.files):
            return True
        return self.asks_model and any(part.waiting for part in self._parts)

    def list_unread(self, first: int, end: int) -> list[str]:
        """Return the files between two units, [first, end), that could not be read."""
        return [
            self._run.files[part.file]
            for part in self._parts
            if part.content_hash == _UNREAD and first <= part.first < end
        ]

    def finish(self, part: StoredDocumentReview, number: int) -> UnitResult | None:
        """Return the result of a unit; None when the unit was cut off.

        Raises:
            RunStopped: The caller stopped the work.
            StaleCursor: The document changed since it was planned.
            Signal: The language model fails, and is required.
        """
        unit = self._fresh.pop(number, None) or self._store.load_unit(self._run.run_id, number)
        if unit is None:
            self._read_parts()
            return None
        if unit.result is not None:
            self._reporter.report_progress(number, self._count_units())
            return unit.result
        result = self._work(part, unit)
        if result is not None:
            result = self._store.finish_unit(self._run.run_id, number, result)
        if result is None:
            self._cut(part)
            return None
        self._report_stage(unit, "done", item_count=len(result.items))
        self._reporter.report_progress(number, self._count_units(), always=True)
        return result

    def open(self, part: StoredDocumentReview) -> ReviewDocument:
        """Return the document of a part.

        Raises:
            StaleCursor: It changed since it was planned.
            IoError: It cannot be read.
        """
        document = self._load(part.file)
        if document.source.content_hash != part.content_hash:
            path = str(document.source.file)
            raise StaleCursor(issued_revision=0, current_revision=0, path=path)
        return document

    def _find_planned(self, number: int) -> StoredDocumentReview | None:
        index = bisect_right(self._parts, number, key=lambda part: part.next)
        for at in range(index, len(self._parts)):
            part = self._parts[at]
            if part.units and number < part.first + part.units:
                return part
        return None

    def _plan_next(self) -> bool:
        """Plan the next document, or the rest of one that waits for the language model."""
        if self._ports.cancel.requested:
            raise RunStopped
        if self._next_file < len(self._run.files):
            self._plan_document(self._next_file, 0)
            return True
        waiting = next((part for part in self._parts if part.waiting), None)
        if waiting is None or not self.asks_model:
            return False
        self.open(waiting)
        self._plan_document(waiting.file, waiting.skipped + waiting.units)
        return True

    def _plan_document(self, file: int, skipped: int) -> None:
        try:
            document = self._load(file)
        except _UNREADABLE as fault:
            if len(self._run.files) == 1 or skipped:
                raise
            message, label = fault.format_message(), self._run.files[file]
            self._reporter.report(
                "stage", stage="rules", status="error", label=label, message=message
            )
            self._add_part(file, [], [], content_hash=_UNREAD)
            return
        worker = self._ports.full if self.asks_model else self._ports.base
        assert worker is not None, "the model is asked only with its worker"
        plan = worker.plan(document)
        units = plan[skipped:]
        results: list[UnitResult] = []
        for index, unit in enumerate(units):
            if needs_model(unit):
                break
            results.append(worker.work(document, plan, index, results.__getitem__))
        self._add_part(
            file,
            units,
            results,
            content_hash=document.source.content_hash,
            skipped=skipped,
            waiting=self._run.model is not None and not self.asks_model,
        )

    def _add_part(
        self, file: int, units: list[Unit], results: list[UnitResult], **fields: Any
    ) -> None:
        """Store a part, unless another process did."""
        first = self._parts[-1].next if self._parts else 0
        if fields.get("skipped"):
            first += 1  # a page without items may have ended at this place
        part = StoredDocumentReview(
            number=len(self._parts),
            file=file,
            first=first,
            units=len(units),
            next=first + len(units),
            **fields,
        )
        if not self._store.add_document(self._run.run_id, part, units, results):
            known = len(self._parts)
            self._read_parts()
            if len(self._parts) == known:
                raise InvalidInput(field="$.run_id", cause="the run was deleted meanwhile")
            return
        if part.skipped:
            self._read_parts()
        else:
            self._parts.append(part)
            self._next_file = file + 1
        self._fresh = {
            number: StoredUnit(number, part.number, unit, result)
            for number, (unit, result) in enumerate(zip(units, results, strict=False), first)
        }
        for unit in self._fresh.values():
            if unit.result and unit.result.items:
                self._report_stage(unit, "done", item_count=len(unit.result.items))

    def _read_parts(self) -> None:
        self._parts = self._store.list_documents(self._run.run_id)
        self._next_file = 1 + max((part.file for part in self._parts), default=-1)

    def _work(self, part: StoredDocumentReview, unit: StoredUnit) -> UnitResult | None:
        """Return the result of an unfinished unit; None when the language model is missing."""
        worker = self._ports.full if needs_model(unit.unit) else self._ports.base
        if worker is None or (needs_model(unit.unit) and not self.asks_model):
            return None
        if self._ports.cancel.requested:
            raise RunStopped
        document, plan = self.open(part), self._load_plan(part)
        index = part.skipped + unit.number - part.first
        self._report_stage(unit, "in_progress")
        try:
            return worker.work(document, plan, index, lambda at: self._load_result(part, at))
        except MODEL_FAILURES as failure:
            if self._ports.require_model:
                raise
            self.failure = failure
            self._report_stage(unit, "error", message=failure.format_message())
            return None

    def _load_plan(self, part: StoredDocumentReview) -> list[Unit]:
        """Return the units of the document as they were planned, those of earlier parts first."""
        if self._plan is None or self._plan[0] != part.number:
            units = [
                stored.unit
                for one in self._parts[: part.number + 1]
                if one.file == part.file
                for stored in self._store.list_units(
                    self._run.run_id, one.first, one.first + one.units
                )
            ]
            self._plan = part.number, units
        return self._plan[1]

    def _load_result(self, part: StoredDocumentReview, index: int) -> UnitResult:
        """Return the result of an earlier unit of a document by its index."""
        owner = next(
            one
            for one in self._parts
            if one.file == part.file and one.skipped <= index < one.skipped + one.units
        )
        number = owner.first + index - owner.skipped
        unit = self._store.load_unit(self._run.run_id, number)
        assert unit is not None, "a unit is worked on after all before it"
        assert unit.result is not None, "a unit is worked on after all before it"
        return unit.result

    def _cut(self, part: StoredDocumentReview) -> None:
        """Take the unfinished units out of a part."""
        self._store.cut_document(self._run.run_id, part.number)
        self._read_parts()

    def _load(self, file: int) -> ReviewDocument:
        if self._document is None or self._document[0] != file:
            self._document = None  # only one document is in memory
            self._document = file, self._ports.load(file)
        return self._document[1]

    def _report_stage(self, unit: StoredUnit, status: str, **fields: Any) -> None:
        file = self._run.files[self._parts[unit.document].file]
        self._reporter.report_stage(unit, file, status, **fields)

    def _count_units(self) -> int | None:
        """Return the number of units when all documents are planned."""
        return self._parts[-1].next if self._next_file == len(self._run.files) else None
