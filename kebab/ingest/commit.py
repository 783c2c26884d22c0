"""Builds documents ahead in worker processes, and stores each whole or not at all.

Parsing takes longer than storing, and SQLite has one writer, so text files are built in batches on
all cores. Files of isolated parsers are always built in a worker, one at a time, so that a crash, a
hang or a lack of memory costs exactly that file. Results come back in the order of the files, so
the library is the same with and without workers.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import structs

from kebab.chunk.budget import Budget, estimate_tokens
from kebab.core.chunks import DocId, make_doc_id
from kebab.core.documents import (
    DocumentRow,
    FileStamp,
    KnownDocument,
    SourcePlan,
    UnreadFile,
    find_emptiness,
)
from kebab.core.files import FileEntry
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import ParseFailed, UnsupportedMedia
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error, resolve_path
from kebab.ingest.build import (
    CUT_SHARE,
    UNREADABLE,
    BuildResult,
    BuildTask,
    BuiltFile,
    DocumentBuilder,
    WorkerBuilder,
)
from kebab.ingest.job import RunContext
from kebab.ingest.members import read_entry
from kebab.ingest.plan import FileTask, MissingDocument
from kebab.limits.deadline import Elapsed, build_failure, can_set_alarm
from kebab.limits.worker import GRACE_S, START_S, WorkerProcess, wait_for_replies
from kebab.platform import count_cores
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestItem, SlowFile

if TYPE_CHECKING:
    from kebab.store.sqlite.writer import SqliteWriter

_MIN_BYTES = 2_000_000
"""The least input that makes a worker worthwhile; starting it takes as long as 200 kB of work."""

_MAX_WORKERS = 8
"""The writer is the bottleneck beyond this number."""

BATCH_FILES = 16
_BATCH_BYTES = 1_000_000
MAX_TEXT_BYTES = 16_000_000
"""Larger texts are built by the caller, because their rows would be in memory twice."""

_FILES_PER_WORKER = 4
"""How many files of isolated parsers make a further worker worthwhile."""


class Unit(NamedTuple):
    """The numbers of the files that a worker gets at once."""

    files: tuple[int, ...]
    isolated: bool = False


class PoolPlan(NamedTuple):
    """What workers build, in the order of the files, and how many workers there are at most."""

    units: list[Unit]
    workers: int


def plan_units(tasks: Sequence[FileTask], builder: DocumentBuilder) -> PoolPlan:
    """Choose the files for workers, and the number of workers."""
    isolated = [builder.is_isolated(task.entry.media) for task in tasks]
    texts = [number for number, alone in enumerate(isolated) if not alone]
    size = sum(tasks[number].entry.size for number in texts)
    interruptible = can_set_alarm() or not builder.deadline_s
    shared = counts_in_worker(builder) and len(texts) > BATCH_FILES and size >= _MIN_BYTES
    if interruptible and (not shared or count_cores() == 1):
        texts = []
    elif interruptible:
        texts = [number for number in texts if tasks[number].entry.size <= MAX_TEXT_BYTES]
    alone = [Unit((number,), isolated=True) for number, one in enumerate(isolated) if one]
    useful = 1 + size // _MIN_BYTES * bool(texts) + len(alone) // _FILES_PER_WORKER
    units = sorted([*split_batches(tasks, texts), *alone])
    return PoolPlan(units, min(count_cores(), useful, _MAX_WORKERS))


def counts_in_worker(builder: DocumentBuilder) -> bool:
    """Return whether a worker can count tokens as the builder does."""
    count = builder.budget.count
    return count is estimate_tokens or getattr(count, "is_portable", False)


def split_batches(tasks: Sequence[FileTask], numbers: Sequence[int]) -> Iterator[Unit]:
    """Yield batches that are small in files and in bytes."""
    batch: list[int] = []
    size = 0
    for number in numbers:
        bytes_more = tasks[number].entry.size
        if batch and (len(batch) == BATCH_FILES or size + bytes_more > _BATCH_BYTES):
            yield Unit((*batch,))
            batch, size = [], 0
        batch.append(number)
        size += bytes_more
    if batch:
        yield Unit((*batch,))


_UNITS_AHEAD = 12
"""How many batches may be built ahead of the writer; their rows wait in memory."""

_QUEUED = 2
"""How many batches a worker has at once, so that it works while the caller writes."""

_POLL_S = 0.2
_MAX_START_FAILURES = 2
_MAX_DOCUMENTS = 200
"""How many files of isolated parsers a worker reads before it is replaced, because of leaks."""

_MAX_MEMORY_SHARE = 0.5
_MB = 1 << 20


@contextmanager
def build_ahead(
    tasks: Sequence[FileTask],
    builder: DocumentBuilder,
    choose_id: Callable[[FileTask], DocId],
    should_stop: Callable[[], bool],
) -> Iterator[Iterator[BuildResult]]:
    """Yield an iterator over the results of the files, None where the caller builds one.

    `should_stop` is called several times a second while the caller waits for a worker.
    """
    plan = plan_units(tasks, builder)
    if not plan.units or not sys.executable:
        yield repeat(None)
        return

    def prepare(number: int) -> BuildTask:
        task = tasks[number]
        return BuildTask(task.source, task.entry, choose_id(task))

    pool = Pool([task.entry for task in tasks], builder, prepare, plan)
    try:
        yield pool.iterate(should_stop)
    finally:
        pool.close()


@dataclass(slots=True, eq=False)
class Slot:
    """A place for a worker, and the units it has; the worker's clock runs for the first."""

    worker: WorkerProcess | None = None
    units: deque[Unit] = field(default_factory=deque)
    units_done: int = 0
    documents: int = 0
    retires: bool = False

    def start(self, handler: WorkerBuilder) -> WorkerProcess:
        """Return the worker, started if there is none."""
        if self.worker is None:
            self.worker = WorkerProcess(handler, handler.builder.max_memory_mb)
            self.units_done, self.documents, self.retires = 0, 0, False
        return self.worker

    def end(self) -> str:
        """End the worker, and return why it ended by itself."""
        worker, self.worker, self.retires = self.worker, None, False
        return worker.explain_end() if worker else ""


class Pool:
    """Builds files in workers; `prepare` returns the task of the file with a number."""

    def __init__(
        self,
        entries: Sequence[FileEntry],
        builder: DocumentBuilder,
        prepare: Callable[[int], BuildTask],
        plan: PoolPlan,
        slots: list[Slot] | None = None,
    ) -> None:
        """Take the files, and the `slots` of an earlier pool whose workers are to be used again."""
        self._entries = entries
        self._builder = builder
        self._prepare = prepare
        self._waiting = deque(plan.units)
        self._for_workers = {number for unit in plan.units for number in unit.files}
        self._slots = slots or [Slot() for _ in range(plan.workers)]
        self._results: dict[int, BuildResult] = {}
        self._retried: set[int] = set()
        self._current = 0
        self._start_failures = 0
        cuts = counts_in_worker(builder)
        budget = builder.budget if cuts else Budget(builder.budget.limit)
        self._handler = WorkerBuilder(replace(builder, budget=budget), cuts)

    def iterate(self, should_stop: Callable[[], bool]) -> Iterator[BuildResult]:
        """Yield the results in the order of the files; None when the run stops."""
        for number in range(len(self._entries)):
            if number not in self._for_workers:
                self._collect(0)
                yield None
                continue
            self._current = number
            if number % BATCH_FILES == 0:
                self._collect(0)
            while number not in self._results and self._is_usable and not should_stop():
                self._collect(_POLL_S)
            yield self._results.pop(number, None)

    def close(self) -> None:
        """End all workers."""
        for slot in self._slots:
            slot.end()

    @property
    def _is_usable(self) -> bool:
        return self._start_failures < _MAX_START_FAILURES

    def _collect(self, seconds: float) -> None:
        """Give the workers what they can take, and take the results that they have."""
        self._dispatch()
        slots = {slot.worker: slot for slot in self._slots if slot.worker is not None}
        for worker in wait_for_replies(list(slots), seconds):
            self._receive(slots[worker], worker)
        for slot in self._slots:
            self._enforce_deadline(slot)

    def _dispatch(self) -> None:
        """Send waiting units to the workers that have the fewest."""
        # An isolated file may be large.
        medias = (self._entries[number].media for number in self._results)
        ahead = sum(BATCH_FILES if self._builder.is_isolated(one) else 1 for one in medias)
        while self._waiting and self._is_usable:
            is_wanted_now = self._waiting[0].files[0] <= self._current
            if ahead >= _UNITS_AHEAD * BATCH_FILES and not is_wanted_now:
                return
            slot = min(self._slots, key=lambda slot: (slot.retires, len(slot.units)))
            if slot.retires or len(slot.units) >= _QUEUED:
                return
            if not self._send(slot, self._waiting[0]):
                return
            self._waiting.popleft()

    def _send(self, slot: Slot, unit: Unit) -> bool:
        try:
            worker = slot.start(self._handler)
        except OSError:
            self._start_failures += 1
            return False
        sent = worker.send([self._prepare(number) for number in unit.files])
        if sent:
            if not slot.units and worker.is_ready:
                worker.restart_clock()
            slot.units.append(unit)
        return sent

    def _receive(self, slot: Slot, worker: WorkerProcess) -> None:
        was_ready = worker.is_ready
        reply = worker.receive()
        worker.restart_clock()
        if reply is None and not was_ready:
            self._start_failures += 1
            self._give_back(slot)
            slot.end()
        elif reply is None:
            self._fail(slot, slot.end())
        elif was_ready and reply.fault:
            slot.end()
            self._fail(slot, reply.fault)
        elif was_ready:
            unit = slot.units.popleft()
            for number, result in zip(unit.files, reply.result, strict=True):
                self._results[number] = result
            slot.units_done += 1
            slot.documents += unit.isolated
            max_memory = self._builder.max_memory_mb * _MB * _MAX_MEMORY_SHARE
            has_grown = bool(max_memory) and reply.memory > max_memory
            slot.retires = slot.retires or slot.documents >= _MAX_DOCUMENTS or has_grown
            if slot.retires and not slot.units:
                slot.end()

    def _enforce_deadline(self, slot: Slot) -> None:
        if slot.worker is None:
            return
        elapsed = slot.worker.read_elapsed()
        if not slot.worker.is_ready:
            if elapsed.clock > START_S:
                self._start_failures = _MAX_START_FAILURES
            return
        files = slot.units[0].files if slot.units else ()
        limits = [self._builder.get_deadline(self._entries[number].media) for number in files]
        longest = sum(limits) * (1 + CUT_SHARE)
        if limits and all(limits) and elapsed.exceeds(longest, GRACE_S):
            slot.end()
            self._fail(slot, "", late=elapsed)

    def _fail(self, slot: Slot, cause: str, late: Elapsed | None = None) -> None:
        """Give the file that ended the worker its error; `late` is its time when it was too long.

        Several files are tried again one by one. A worker may have ended because of earlier files,
        so a file has its error only after its own worker ended.
        """
        if slot.units:
            unit = slot.units.popleft()
            (number, *others) = unit.files
            alone = not slot.units_done or number in self._retried
            if others or (late is None and not alone):
                self._retried.update(unit.files if not others else ())
                slot.units.extend(Unit((number,), unit.isolated) for number in unit.files)
            else:
                entry = self._entries[number]
                if late is not None:
                    limit = self._builder.get_deadline(entry.media)
                    self._results[number] = late.build_timeout(limit, entry.path)
                else:
                    version = self._builder.parsers[entry.media].version
                    self._results[number] = build_failure(entry.path, version, cause)
        self._give_back(slot)

    def _give_back(self, slot: Slot) -> None:
        """Let other workers have the units of a worker that has ended."""
        self._waiting = deque(sorted([*slot.units, *self._waiting]))
        slot.units.clear()


BuildAhead: TypeAlias = Callable[
    [Sequence[FileTask], DocumentBuilder, Callable[[FileTask], DocId], Callable[[], bool]],
    AbstractContextManager[Iterator[BuildResult]],
]
"""Builds files as `build_ahead` does, here or on other machines."""

SLOWEST = 5
REMOVAL_BATCH = 256
"""How many documents are deleted in one transaction."""


class DocumentCommitter:
    """Writes to the library and collects the outcome of each file."""

    def __init__(
        self,
        library: "SqliteWriter",
        context: RunContext,
        describe_error: Callable[[Signal], ErrorReply],
        build: BuildAhead = build_ahead,
    ) -> None:
        self.items: list[IngestItem] = []
        self.fault: Signal | None = None
        """The error of the first failed item."""
        self.slowest: list[SlowFile] = []
        self.missing: list[MissingDocument] = []
        self.pictures: list[tuple[str, Signal]] = []
        """The paths of documents with pictures that no model could read, and why."""
        self.tried = 0
        self._build = build
        self._describe_error = describe_error
        self._library = library
        self._context = context

    def store(self, tasks: list[FileTask], builder: DocumentBuilder) -> None:
        """Store the document of every file, until cancelled."""
        send = self._context.reporter.send
        files = [task for task in tasks if not task.is_same_document]
        with self._build(files, builder, self._choose_id, self._should_stop) as results:
            for number, task in enumerate(tasks, start=1):
                if self._context.cancel.requested:
                    return
                count, path = (number, len(tasks)), task.entry.path
                send(ProgressKind.ASSET_STARTED, path=path, count=count, unit="files")
                result = None if task.is_same_document else next(results)
                if self._should_stop():
                    return
                started = self._context.clock.monotonic()
                if task.known is not None and task.is_same_document:
                    self._move(task, task.known)
                else:
                    self._store_result(task, builder, result)
                duration_ms = (self._context.clock.monotonic() - started) * 1000
                # The time of a worker counts too.
                duration_ms += result.duration_ms if isinstance(result, BuiltFile) else 0
                self.tried = number
                slow = SlowFile(doc_path=path, duration_ms=duration_ms)
                slowest_first = sorted((*self.slowest, slow), key=lambda file: -file.duration_ms)
                self.slowest = slowest_first[:SLOWEST]
                send(ProgressKind.ASSET_FINISHED, path=path, count=count, unit="files")

    def _move(self, task: FileTask, known: KnownDocument) -> None:
        """Store the new path of a document that needs no reading."""
        entry = task.entry
        stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
        moved = self._library.move_document(known.doc_id, task.source.name, entry.path, stamp)
        self._add_item(task, moved.warnings, chunk_count=moved.chunks)

    def touch(self, touched: list[tuple[KnownDocument, FileStamp]]) -> None:
        """Store the new stamps of files whose content did not change."""
        for known, stamp in touched:
            self._library.update_stamp(known.doc_id, stamp)
            self._context.reporter.send_heartbeat("scan")

    def remove(self, missing: list[MissingDocument]) -> None:
        """Delete the documents whose files are missing."""
        unique = {document.known.doc_id: document for document in missing}
        ids = list(unique)
        for first in range(0, len(ids), REMOVAL_BATCH):
            self._library.remove_documents(ids[first : first + REMOVAL_BATCH])
            self._context.reporter.send_heartbeat("remove")
        self.items += [document.to_item() for document in unique.values()]

    def _should_stop(self) -> bool:
        self._context.reporter.send_heartbeat("parse")
        self._library.commit_when_due()
        return self._context.cancel.requested

    def _store_result(self, task: FileTask, builder: DocumentBuilder, result: BuildResult) -> None:
        """Store a file that a worker has built or only parsed, or that is to be built here."""
        made = result.made if isinstance(result, BuiltFile) else None
        if isinstance(result, Signal):
            self._add_error(task, builder, result)
        elif isinstance(made, DocumentRow):
            self._put(task, made)
        else:
            try:
                content = made or read_entry(task.entry, builder.containers)
                job = BuildTask(task.source, task.entry, self._choose_id(task))
                row = builder.build_row(job, content)
            except Signal as error:  # of its parser
                self._add_error(task, builder, error)
            except (FileNotFoundError, NotADirectoryError):
                self._library.forget_unread(task.source.name, task.entry.path)
                if task.known is not None:
                    self.missing.append(MissingDocument(source=task.source, known=task.known))
            except OSError as failure:
                fault = build_io_error(failure, "read", task.entry.absolute)
                self._add_error(task, builder, fault)
            else:
                self._put(task, row)

    def _put(self, task: FileTask, row: DocumentRow) -> None:
        changes = self._library.put_document(row)
        self.pictures += [(row.path, failure) for failure in row.failures]
        count = changes.kept + changes.added
        self._add_item(task, row.warnings, doc_id=row.doc_id, chunk_count=count)

    def _add_item(self, task: FileTask, warnings: Sequence[str], **fields: Any) -> None:
        fields |= {"warnings": [*warnings], "no_passages": find_emptiness(warnings)}
        self.items.append(structs.replace(task.to_item(), **fields))

    def _add_error(self, task: FileTask, builder: DocumentBuilder, error: Signal) -> None:
        """Add the error of a file. A new file gets a document by whose name it is found."""
        source, path, reason = task.source, task.entry.path, error.format_message()
        is_new, known = task.known is None and source.kind != "stdin", task.known
        if known is not None and known.recipe == UNREADABLE:  # its file has changed, and is as bad
            is_new = (known.size, known.mtime_ns) != (task.entry.size, task.entry.mtime_ns)
        if is_new and task.entry.media in builder.parsers:
            job = BuildTask(source, task.entry, self._choose_id(task))
            cause = getattr(error, "cause", "") or reason
            self._library.put_document(builder.build_name(job, cause))
            unread = [UnreadFile(path, indexed=True, reason=reason)]
            named = SourcePlan(
                source=source.name, below="", files=(path,), unread=unread, folders={}, rules=""
            )
            self._library.store_plans([named])
        else:
            self._library.mark_failed(source.name, path, reason)
        if isinstance(error, ParseFailed | UnsupportedMedia):
            # Parsers know only paths below the source.
            error.path = resolve_path(error.path, task.source.root)
        item = structs.replace(task.to_item(), kind="error", error=self._describe_error(error))
        self.items.append(item)
        self.fault = self.fault or error

    def _choose_id(self, task: FileTask) -> DocId:
        """Return the id of a known document, or a free one."""
        if task.known is not None:
            return task.known.doc_id
        occurrence = 0
        while True:
            doc_id = make_doc_id(task.source.name, task.entry.path, occurrence)
            if not self._library.has_document(doc_id):
                return doc_id
            occurrence += 1
