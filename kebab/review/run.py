"""Works on the units of a stored run in order, and reports its events.

Each document is planned when it is reached.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kebab.core.chunks import DocId
from kebab.core.progress import Cancel
from kebab.core.review import (
    FinishedUnit,
    PlannedDocument,
    StoredRun,
    Unit,
    UnitKey,
    UnitResult,
    UnitState,
    UnitUsage,
)
from kebab.errors.catalog import (
    ContextOverflow,
    InvalidInput,
    IoError,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    ParseFailed,
    StaleCursor,
    TimedOut,
    TooLarge,
    UnsupportedMedia,
)
from kebab.errors.signal import Signal
from kebab.platform import shorten_path
from kebab.review.document import ReviewDocument
from kebab.wire.review import AgentItems, FailOnName, ReviewedDocument
from kebab.wire.search import DegradedChannel
from kebab.wire.stream import ReviewEvent, ReviewEventData

if TYPE_CHECKING:
    from kebab.store.sqlite.reviews import SqliteReviewStore

UNREADABLE = (IoError, ParseFailed, TooLarge, UnsupportedMedia)
"""What is raised for a document that cannot be reviewed."""
_UNREAD = ""
"""The content hash of a document that could not be read."""
_MOST_UNUSABLE = 3
"""After so many units in a row without a usable answer the model is not asked any more."""
_NO_ANSWER = "the model gave no usable answer"
_UNITS_PER_PROGRESS = 100


MODEL_FAILURES = (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
"""What a worker raises when the language model fails."""


def needs_model(unit: Unit) -> bool:
    """Return whether a unit needs the language model."""
    return unit.kind in {"proofread", "draft"}


class UnitWorker(Protocol):
    """Works on the units of documents. It keeps no state that a killed run would lose."""

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of a document in the order of the work; the same for the same text.

        Those that need no language model come first.
        """

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the result of a unit.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """


class RunPorts(Struct, frozen=True, kw_only=True):
    """What the work on a run needs.

    Attributes:
        store: Stores the run.
        worker: Works on its units.
        asks_model: Whether units that need the language model are worked on.
        load: Returns a document of the run by its number.
        report: Receives the events.
        cancel: Stops the work between two units.
        build_failure: Returns the failure of a model without a usable answer to so many units.
        fail_on: The least severity that makes the exit status 1.
        required: Whether a failure of the language model ends the work before its first usable
            answer to this request.
        is_stored: Whether the run can be continued later; otherwise a page has all items of a
            document.
        missing: What else was not available, or not reviewed; it may grow with the work.
    """

    store: "SqliteReviewStore"
    worker: UnitWorker
    asks_model: bool
    load: Callable[[int], ReviewDocument]
    report: Callable[[ReviewEvent], None]
    cancel: Cancel
    build_failure: Callable[[int], Signal]
    fail_on: FailOnName
    required: bool = False
    is_stored: bool = True
    missing: Iterable[DegradedChannel] = ()


class RunStopped(Exception):  # noqa: N818 - no error: the next request continues the work
    """The caller stopped the work between two units."""


class RunReporter:
    """Reports the events of a run. Units that take almost no time share events."""

    def __init__(
        self, run: StoredRun, report: Callable[[ReviewEvent], None], *, holds_pages: bool
    ) -> None:
        """Send the events to `report`; with `holds_pages` pages wait for `release`."""
        self._run = run
        self._report = report
        self._held: list[ReviewEvent] | None = [] if holds_pages else None
        self._progress: ReviewEvent | None = None

    def _build(self, kind: Any, fields: Mapping[str, Any]) -> ReviewEvent:
        return ReviewEvent(type=kind, data=ReviewEventData(run_id=self._run.run_id, **fields))

    def report_page(self, page: AgentItems, *, emitted: int, total: int | None) -> None:
        """Report a page, and then the progress; its cursor is empty at the end."""
        known = UNSET if total is None else total
        cursor, self._progress = page.next_cursor or "", None
        fields = {"emitted": emitted, "total": known, "has_more": page.has_more, "cursor": cursor}
        for event in (ReviewEvent(type="items", data=page), self._build("progress", fields)):
            if self._held is None:
                self._report(event)
            else:
                self._held.append(event)

    def release(self) -> None:
        """Send the pages that wait, and do not hold others."""
        self._send_progress()
        held, self._held = self._held, None
        for event in held or ():
            self._report(event)

    def _send_progress(self) -> None:
        """Send the progress that waited for a page, which comes first."""
        waiting, self._progress = self._progress, None
        if waiting is not None:
            self._report(waiting)

    def report_stage(self, number: int, document: int, kind: str, status: str, **more: Any) -> None:
        """Report the state of the unit that is or becomes the entry `number` of the list."""
        fields = {"stage": kind, "status": status, "label": self._run.files[document], **more}
        self._send_progress()
        self._report(self._build("stage", {"chunk_id": f"chunk-{number}", **fields}))

    def report_progress(self, number: int, total: int | None, *, is_slow: bool) -> None:
        """Report that an entry is finished: every hundredth, and those that took time."""
        if is_slow or (number + 1) % _UNITS_PER_PROGRESS == 0:
            known = UNSET if total is None else total
            fields = {"chunk_id": f"chunk-{number}", "emitted": number + 1, "total": known}
            self._progress = self._build("progress", fields | {"has_more": True})


class RunUnits:
    """The units of a run, worked on one after another.

    When the language model fails, the rules go on alone; `failure` is then the reason. Units that
    it did not answer are asked about again at the end, once by each request.
    """

    def __init__(self, run: StoredRun, ports: RunPorts, reporter: RunReporter) -> None:
        self.failure: Signal | None = None
        self._run = run
        self._ports = ports
        self._reporter = reporter
        self._store = ports.store
        self._documents = self._store.list_documents(run.run_id)
        self._read_states()
        self._place = UnitKey(0, 0)
        """All units before this one were worked on or passed over."""
        self._tried: set[UnitKey] = set()
        self._opened: tuple[int, ReviewDocument] | None = None
        self._unusable = 0
        self._has_answer = False

    def _read_states(self) -> None:
        self._states = self._store.list_states(self._run.run_id)
        self._answered = {one.key for one in self._states if one.answered}
        self._unanswered = {one.key for one in self._states} - self._answered

    @property
    def asks_model(self) -> bool:
        """Whether the language model is asked at present."""
        return self._ports.asks_model and self.failure is None

    @property
    def count(self) -> int:
        """The length of the list of finished units."""
        return len(self._states)

    @property
    def is_unfinished(self) -> bool:
        """Whether units of the run are still to be worked on, planned or not."""
        total = self.count_units()
        return total is None or len(self._answered) < total

    def is_answered(self, key: UnitKey) -> bool:
        """Return whether a unit has a complete answer, perhaps a later one."""
        return key in self._answered

    def get_document(self, number: int) -> int:
        """Return the document of an entry of the list."""
        return self._states[number].key.document

    def has_more(self) -> bool:
        """Return whether this request may still finish a unit."""
        return self.find_next(plans=False) is not None

    def find_next(self, *, plans: bool = True) -> UnitKey | None:
        """Return the unit to work on next; None when this request can do no more.

        Without `plans` it is the first unit of a document that has no plan yet.

        Raises:
            RunStopped: The caller stopped the work.
            IoError: The only document cannot be read.
        """
        document, index = self._place
        while document < len(self._run.files):
            if not plans and document == len(self._documents):
                return UnitKey(document, 0)
            units = self._plan(document).units
            while index < len(units):
                self._place = UnitKey(document, index)
                is_done = self._place in self._answered or self._place in self._unanswered
                if not is_done and (self.asks_model or not needs_model(units[index])):
                    return self._place
                index += 1
            document, index = document + 1, 0
        self._place = UnitKey(document, 0)
        again = self._unanswered - self._tried if self.asks_model else ()
        return min(again, default=None)

    def _plan(self, number: int) -> PlannedDocument:
        """Return the plan of a document, which is stored when it is new."""
        if number < len(self._documents):
            return self._documents[number]
        if self._ports.cancel.requested:
            raise RunStopped
        try:
            document = self._load(number)
            units = tuple(self._ports.worker.plan(document))
            planned = PlannedDocument(number, document.source.content_hash, units)
        except UNREADABLE:
            if len(self._run.files) == 1:
                raise
            planned = PlannedDocument(number, _UNREAD, (Unit("unread", (0, 0), 0, 0),))
        stored = self._store.add_document(self._run.run_id, planned)
        if stored is None:
            raise InvalidInput(field="$.run_id", cause="the run was deleted meanwhile")
        self._documents.append(stored)
        if waiting := [one for one in stored.units if needs_model(one) and self.asks_model]:
            self._reporter.report_stage(self.count, number, waiting[0].kind, "queued")
        return stored

    def finish_next(self) -> None:
        """Work on the next unit, which `find_next` found.

        It is not finished when the model fails, gives no answer a second time, or when another
        process is ahead.

        Raises:
            RunStopped: The caller stopped the work.
            StaleCursor: The document changed since it was planned.
            Signal: The language model fails, and is required.
        """
        key = self.find_next()
        assert key is not None, "there is a next unit"
        if self._ports.cancel.requested:
            raise RunStopped
        unit = self._documents[key.document].units[key.place]
        number, is_again = self.count, key in self._unanswered
        self._tried.add(key)
        try:
            result = self._work(key, unit)
        except MODEL_FAILURES as failure:
            self._fail(failure)
            message = failure.format_message()
            self._reporter.report_stage(number, key.document, unit.kind, "error", message=message)
            return
        usage = result.usage
        if usage.requests and not usage.unusable:
            self._unusable, self._has_answer = 0, True
            self._reporter.release()
        elif usage.requests:
            self._unusable += 1
            if self._unusable >= _MOST_UNUSABLE:
                self._fail(self._ports.build_failure(self._unusable))
        if is_again and usage.unanswered and not result.items:
            return
        if not self._store.add_unit(self._run.run_id, FinishedUnit(number, key, result)):
            self._read_states()
            if self.count == number:
                raise InvalidInput(field="$.run_id", cause="the run was deleted meanwhile")
            return
        self._states.append(UnitState(key, not usage.unanswered))
        (self._unanswered if usage.unanswered else self._answered).add(key)
        self._unanswered -= self._answered
        self._report_end(number, key, unit, result)

    def _work(self, key: UnitKey, unit: Unit) -> UnitResult:
        """Return the result of a unit without the items that its document has already."""
        if unit.kind == "unread":
            return UnitResult(fault=self._find_fault(key.document))
        try:
            document = self.open(key.document)
        except (StaleCursor, *UNREADABLE):
            if key not in self._unanswered or len(self._run.files) == 1:
                raise
            return UnitResult(usage=UnitUsage(unanswered=True))
        if not needs_model(unit):
            return self._ports.worker.work(document, unit)
        self._reporter.report_stage(self.count, key.document, unit.kind, "in_progress")
        result = self._ports.worker.work(document, unit)
        known = {item.uid for one in self._list_results(key.document) for item in one.items}
        return replace(result, items=tuple(one for one in result.items if one.uid not in known))

    def _find_fault(self, number: int) -> str:
        try:
            self._load(number)
        except UNREADABLE as fault:
            return fault.format_message()
        return f"the file could not be read: {self._run.files[number]}"

    def _list_results(self, document: int) -> Iterator[UnitResult]:
        for number, state in enumerate(self._states):
            if state.key.document == document:
                for unit in self._store.list_units(self._run.run_id, number, number + 1):
                    yield unit.result

    def _report_end(self, number: int, key: UnitKey, unit: Unit, result: UnitResult) -> None:
        asks = needs_model(unit)
        report = self._reporter.report_stage
        if result.fault is not None:
            report(number, key.document, unit.kind, "error", message=result.fault)
        elif result.usage.unanswered:
            report(number, key.document, unit.kind, "error", message=_NO_ANSWER)
        elif asks or result.items:
            report(number, key.document, unit.kind, "done", item_count=len(result.items))
        self._reporter.report_progress(number, self.count_units(), is_slow=asks)

    def conclude(self) -> None:
        """Treat a model that gave no usable answer to this request as one that fails.

        Raises:
            Signal: It does, and is required.
        """
        if self._unusable and not self._has_answer and self.failure is None:
            self._fail(self._ports.build_failure(self._unusable))

    def _fail(self, failure: Signal) -> None:
        """Go on without the model, unless it is required."""
        if self._ports.required and not self._has_answer:
            raise failure
        self.failure = failure

    def has_model_text(self, number: int) -> bool:
        """Return whether a planned document has text that the language model reads."""
        return any(map(needs_model, self._documents[number].units))

    def count_unanswered(self) -> int:
        """Return how many parts of the text the model has not read yet; neighbours are one."""
        count = 0
        for planned in self._documents:
            end = -1
            for index, unit in enumerate(planned.units):
                if needs_model(unit) and UnitKey(planned.number, index) not in self._answered:
                    count += unit.sentences[0] > end
                    end = unit.sentences[1]
        return count

    def open(self, number: int) -> ReviewDocument:
        """Return a planned document.

        Raises:
            StaleCursor: It changed since it was planned.
            IoError: It cannot be read.
        """
        document = self._load(number)
        if document.source.content_hash != self._documents[number].content_hash:
            path = str(document.source.file)
            raise StaleCursor(issued_revision=0, current_revision=0, path=path)
        return document

    def describe(self, number: int) -> ReviewedDocument:
        """Return what a page says about a document; it raises what `open` raises."""
        source, lang = self.open(number).source, self.open(number).lang
        path = self._run.files[number]
        return ReviewedDocument(
            doc_id=DocId(source.doc_id) if source.doc_id else None,
            doc_path=source.doc_path or shorten_path(path),
            file=path,
            media=source.media,
            lang=lang,
            content_hash=source.content_hash,
            index=number,
            of=len(self._run.files),
        )

    def _load(self, number: int) -> ReviewDocument:
        if self._opened is None or self._opened[0] != number:
            self._opened = None  # only one document is in memory
            self._opened = number, self._ports.load(number)
        return self._opened[1]

    def count_units(self) -> int | None:
        """Return the number of units when all documents are planned."""
        is_planned = len(self._documents) == len(self._run.files)
        return sum(len(one.units) for one in self._documents) if is_planned else None
