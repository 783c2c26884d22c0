"""Works on the units of a stored run in order, and reports its events.

Each document is planned when it is reached.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kebab.core.ids import DocId
from kebab.core.review import (
    StoredDocumentReview,
    StoredRun,
    StoredUnit,
    Unit,
    UnitResult,
    UnitUsage,
)
from kebab.errors.catalog import (
    InvalidInput,
    IoError,
    ParseFailed,
    StaleCursor,
    TooLarge,
    UnsupportedMedia,
)
from kebab.errors.signal import Signal
from kebab.review.document import ReviewDocument
from kebab.review.worker import MODEL_FAILURES, RunPorts, UnitWorker, needs_model
from kebab.wire.review import ReviewedDocument, UnansweredText
from kebab.wire.stream import ReviewEvent, ReviewEventData

_UNITS_PER_PROGRESS = 100


class RunReporter:
    """Reports the events of one run. Units that take almost no time share events."""

    def __init__(
        self, run: StoredRun, report: Callable[[ReviewEvent], None], *, holds_pages: bool = False
    ) -> None:
        """Send the events to `report`; with `holds_pages` pages wait for `release`."""
        self._run_id = run.run_id
        self._report = report
        self._passed = 0
        self._held: list[ReviewEvent] | None = [] if holds_pages else None

    def release(self) -> None:
        """Send the pages that wait, and do not hold others."""
        held, self._held = self._held, None
        for event in held or ():
            self._report(event)

    def report(self, kind: Any, **fields: Any) -> None:
        """Report an event; `fields` are those of `ReviewEventData`."""
        data = ReviewEventData(run_id=self._run_id, **fields)
        event = ReviewEvent(type=kind, data=data)
        if kind == "items" and self._held is not None:
            self._held.append(event)
        else:
            self._report(event)

    def report_stage(self, unit: StoredUnit, file: str, status: str, **fields: Any) -> None:
        """Report the state of a unit of a file."""
        chunk_id = f"chunk-{unit.number}"
        self.report(
            "stage", chunk_id=chunk_id, stage=unit.unit.kind, status=status, label=file, **fields
        )

    def report_progress(self, number: int, total: int | None, *, always: bool = False) -> None:
        """Report that a unit is done: every hundredth, or `always`."""
        self._passed += 1
        if always or self._passed % _UNITS_PER_PROGRESS == 0:
            known = UNSET if total is None else total
            self.report("progress", chunk_id=f"chunk-{number}", emitted=number + 1, total=known)


_UNREAD = ""
"""The content hash of a document that could not be read, and so has no units."""

UNREADABLE = (IoError, ParseFailed, TooLarge, UnsupportedMedia)
"""What is raised for a document that cannot be reviewed."""
_MOST_UNUSABLE = 3
"""After so many units in a row without a usable answer the model is not asked any more."""
_NO_ANSWER = "the model gave no usable answer"
_FIRST_STAGES = {"quick": "proofread", "deep": "detect"}
_REVIEWED = frozenset({"proofread", "fix"})
"""The kinds of units whose findings are final."""


def name_document(path: str) -> str:
    """Return a path as a person would write it: below the working folder without that."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return path


class RunStopped(Exception):  # noqa: N818 - no error: the next request continues the work
    """The caller stopped the work between two units."""


class _FilePlan(NamedTuple):
    """The units of a document in order, the numbers of each in the run, and the index of each."""

    units: list[Unit]
    numbers: list[list[int]]
    indexes: dict[Unit, int]


class RunUnits:
    """The units of a run, each finished when it is first needed.

    When the language model fails, the other units of the document are cut off, and the rules
    continue alone; `failure` is then the reason. A unit without a usable answer is stored as
    unanswered. The next request tries the model again with both, behind all documents.
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
        self._known: dict[int, tuple[str, str | None, tuple[str, ...]]] = {}
        """The hash, the language and the place of documents that were not opened here, by file."""
        self._plan: tuple[tuple[int, int], _FilePlan] | None = None
        self._fresh: dict[int, StoredUnit] = {}
        self._tried: set[int] = set()
        self._unusable = 0
        self._has_answer = False

    @property
    def asks_model(self) -> bool:
        """Whether the language model is asked at present."""
        return self._ports.full is not None and self.failure is None

    @property
    def is_unfinished(self) -> bool:
        """Whether units of the run are still to be worked on, planned or not."""
        if self._next_file < len(self._run.files) or any(part.waiting for part in self._parts):
            return True
        if self._store.list_unanswered(self._run.run_id):
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
        return self.asks_model and (
            any(part.waiting for part in self._parts) or bool(self._list_untried())
        )

    def conclude(self) -> None:
        """Treat a model that gave no usable answer to this request as one that fails.

        Raises:
            Signal: It does, and is required.
        """
        if self._unusable and not self._has_answer and self.failure is None:
            self._fail(self._ports.build_failure(self._unusable))

    def list_unanswered(self, first: int, end: int, *, is_last: bool) -> list[UnansweredText]:
        """Return the text between two units, [first, end), that the model did not answer.

        What this request is still going to ask is left out. With `is_last` the text of the whole
        run is returned.
        """
        asks = self.asks_model
        units = [
            unit
            for unit in self._store.list_unanswered(self._run.run_id)
            if (is_last or first <= unit.number < end) and (unit.number in self._tried or not asks)
        ]
        found = [
            text
            for number in dict.fromkeys(unit.document for unit in units)
            for text in self._describe_units(
                self._parts[number], [one.unit for one in units if one.document == number]
            )
        ]
        return found + [
            self._describe_rest(part)
            for part in self._parts
            if part.waiting and not asks and (is_last or first <= part.first < end)
        ]

    def is_asked_again(self, unit: StoredUnit) -> bool:
        """Return whether a later part has an unanswered unit again, or will have it."""
        return not unit.unanswered or (self.asks_model and unit.number not in self._tried)

    def _describe_units(
        self, part: StoredDocumentReview, units: Iterable[Unit]
    ) -> Iterator[UnansweredText]:
        """Yield the text of some units of a part; that of neighbours is one."""
        spans: list[Unit] = []
        for unit in units:
            last = spans[-1] if spans else None
            if last and last.kind == unit.kind and unit.sentences[0] <= last.sentences[1]:
                sentences = last.sentences[0], unit.sentences[1]
                spans[-1] = last._replace(sentences=sentences, end=unit.end)
            else:
                spans.append(unit)
        document = self._open_if_same(part)
        for unit in spans:
            lines = None
            if document is not None:
                last_place = max(unit.start, unit.end - 1)
                lines = document.find_line(unit.start)[0], document.find_line(last_place)[0]
            yield UnansweredText(
                file=self._run.files[part.file],
                stage=unit.kind,
                i=(unit.sentences[0], max(unit.sentences[0], unit.sentences[1] - 1)),
                lines=lines,
            )

    def _describe_rest(self, part: StoredDocumentReview) -> UnansweredText:
        """Return the text that a part which waits for the model leaves: all of it, or its end."""
        stage = _FIRST_STAGES.get(self._run.tier, "draft")
        done = [unit for unit in self._list_file_units(part.file) if unit.unit.kind in _REVIEWED]
        document = self._open_if_same(part) if done else None
        if document is None or not document.sentences:
            return UnansweredText(file=self._run.files[part.file], stage=stage, i=None, lines=None)
        start = max(unit.unit.end for unit in done)
        first = min(max(unit.unit.sentences[1] for unit in done), len(document.sentences) - 1)
        lines = document.find_line(start)[0], document.find_line(len(document.text))[0]
        last = len(document.sentences) - 1
        file = self._run.files[part.file]
        return UnansweredText(file=file, stage=stage, i=(first, last), lines=lines)

    def _open_if_same(self, part: StoredDocumentReview) -> ReviewDocument | None:
        with suppress(StaleCursor, *UNREADABLE):
            return self.open(part)
        return None

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
        worked = self._work(part, unit)
        result = worked and self._store.finish_unit(self._run.run_id, number, worked)
        if worked is None or result is None:
            self._cut(part)
            return None
        usage = worked.usage
        if usage.unanswered or usage.unusable:
            self._report_stage(unit, "error", message=_NO_ANSWER)
        else:
            self._report_stage(unit, "done", item_count=len(result.items))
        self._reporter.report_progress(number, self._count_units(), always=True)
        if usage.unanswered:
            self._tried.add(number)
        if usage.unusable:
            self._unusable += 1
            if self._unusable >= _MOST_UNUSABLE:
                self._fail(self._ports.build_failure(self._unusable))
        elif usage.requests:
            self._unusable, self._has_answer = 0, True
            self._reporter.release()
        return result

    def _fail(self, failure: Signal) -> None:
        """Go on without the model, unless it is required."""
        required = self._ports.required
        if required == "always" or (required == "first" and not self._has_answer):
            raise failure
        self.failure = failure

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

    def describe(self, part: StoredDocumentReview) -> ReviewedDocument:
        """Return what a page says about the document of a part; it raises what `open` raises."""
        path = self._run.files[part.file]
        if part.file in self._known:
            content_hash, lang, (_, media, doc_id, doc_path, *_) = self._known[part.file]
        else:
            document = self.open(part)
            source, lang = document.source, document.lang
            content_hash, media = source.content_hash, source.media
            doc_id, doc_path = source.doc_id or "", source.doc_path
        return ReviewedDocument(
            doc_id=DocId(doc_id) if doc_id else None,
            doc_path=doc_path or name_document(path),
            file=path,
            media=media,
            lang=lang,
            content_hash=content_hash,
            index=part.file,
            of=len(self._run.files),
        )

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
        if not self.asks_model:
            return False
        waiting = next((part for part in self._parts if part.waiting), None)
        if waiting is not None:
            self.open(waiting)
            self._plan_document(waiting.file, waiting.skipped + waiting.units)
            return True
        while True:
            untried = self._list_untried()
            if not untried:
                return False
            part = self._parts[untried[0].document]
            try:
                self.open(part)
                break
            except (StaleCursor, *UNREADABLE):
                if len(self._run.files) == 1:
                    raise
            # The stored units are not those of the document any more.
            self._tried |= {unit.number for unit in untried if unit.document == part.number}
        assert self._ports.full is not None, "the model is asked only with its worker"
        plan = self._load_plan(part.file)
        chosen: set[int] = set()
        for stored in untried:
            if self._parts[stored.document].file == part.file:
                index = plan.indexes[stored.unit]
                chosen |= {index, *self._ports.full.list_dependents(plan.units, index)}
        units = [plan.units[index] for index in sorted(chosen)]
        self._add_part(part.file, units, [], content_hash=part.content_hash, again=True)
        return True

    def _list_untried(self) -> list[StoredUnit]:
        """Return the unanswered units that this request did not ask about."""
        units = self._store.list_unanswered(self._run.run_id)
        return [unit for unit in units if unit.number not in self._tried]

    def _plan_document(self, file: int, skipped: int) -> None:
        known = None if skipped else self._ports.take_rules_result(file)
        if known is not None:
            self._known[file] = known.content_hash, known.lang, known.place
            self._add_part(file, [known.unit], [known.result], content_hash=known.content_hash)
            return
        try:
            document = self._load(file)
        except UNREADABLE as fault:
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
        if fields.get("skipped") or fields.get("again"):
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
        if part.skipped or part.again:
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
        document = self.open(part)
        self._report_stage(unit, "in_progress")
        try:
            return self._ask(worker, document, part, unit)
        except MODEL_FAILURES as failure:
            self._fail(failure)
            self._report_stage(unit, "error", message=failure.format_message())
            return None

    def _ask(
        self,
        worker: UnitWorker,
        document: ReviewDocument,
        part: StoredDocumentReview,
        unit: StoredUnit,
    ) -> UnitResult:
        """Return the result of a unit; that of a repeated one has only items that are new."""
        plan = self._load_plan(part.file)
        result = worker.work(
            document,
            plan.units,
            plan.indexes[unit.unit],
            lambda at: self._load_result(plan.numbers[at]),
        )
        if not part.again:
            return result
        known = {
            item.uid
            for one in self._list_file_units(part.file)
            if one.result is not None
            for item in one.result.items
        }
        # Nothing decides later on what a repeated unit found in the text that the next one has too.
        later = result.carried if unit.unit.kind == "proofread" else ()
        found = {item.uid: item for item in (*later, *result.items) if item.uid not in known}
        return replace(result, items=tuple(sorted(found.values(), key=lambda item: item.o)))

    def _load_plan(self, file: int) -> _FilePlan:
        """Return the units of a document as they were planned."""
        key = file, len(self._parts)
        if self._plan is None or self._plan[0] != key:
            plan = _FilePlan([], [], {})
            for stored in self._list_file_units(file):
                if stored.unit not in plan.indexes:
                    plan.indexes[stored.unit] = len(plan.units)
                    plan.units.append(stored.unit)
                    plan.numbers.append([])
                plan.numbers[plan.indexes[stored.unit]].append(stored.number)
            self._plan = key, plan
        return self._plan[1]

    def _list_file_units(self, file: int) -> list[StoredUnit]:
        """Return the stored units of a document, those of earlier parts first."""
        return [
            stored
            for one in self._parts
            if one.file == file
            for stored in self._store.list_units(self._run.run_id, one.first, one.first + one.units)
        ]

    def _load_result(self, numbers: list[int]) -> UnitResult:
        """Return the result of an earlier unit: its last answer, with the items of all."""
        stored = [self._store.load_unit(self._run.run_id, number) for number in numbers]
        results = [one.result for one in stored if one is not None and one.result is not None]
        assert results, "a unit is worked on after all before it"
        if len(results) == 1:
            return results[0]
        answered = [one for one in results if not one.usage.unanswered]
        items = {item.uid: item for one in results for item in one.items}
        return replace((answered or results)[-1], items=tuple(items.values()))

    def _cut(self, part: StoredDocumentReview) -> None:
        """Take the unfinished units out of a part; those of a repeated part stay unanswered."""
        if part.again:
            end = part.first + part.units
            for unit in self._store.list_units(self._run.run_id, part.first, end):
                if unit.result is None:
                    nothing = UnitResult(usage=UnitUsage(unanswered=True))
                    self._store.finish_unit(self._run.run_id, unit.number, nothing)
                    self._tried.add(unit.number)
            return
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
