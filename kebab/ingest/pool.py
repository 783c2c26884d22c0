"""Builds documents in worker processes ahead of the process that stores them.

Parsing takes longer than storing, and SQLite has one writer, so text files are built in batches on
all cores. Files of isolated parsers are always built in a worker, one at a time, so that a crash, a
hang or a lack of memory costs exactly that file. Results come back in the order of the files, so
the library is the same with and without workers.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import repeat

from kebab.chunk.budget import Budget
from kebab.core.ids import DocId
from kebab.errors.signal import Signal
from kebab.ingest.build import BuildResult, BuildTask, DocumentBuilder, WorkerBuilder
from kebab.ingest.plan import FileTask
from kebab.ingest.units import BATCH_FILES, PoolPlan, Unit, counts_in_worker, plan_units
from kebab.limits.deadline import Elapsed
from kebab.limits.faults import build_failure
from kebab.limits.worker import GRACE_S, START_S, Reply, WorkerProcess, wait_for_replies

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
    pool = _Pool(tasks, builder, choose_id, plan)
    try:
        yield pool.iterate(should_stop)
    finally:
        pool.close()


@dataclass(slots=True, eq=False)
class _Slot:
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


class _Pool:
    def __init__(
        self,
        tasks: Sequence[FileTask],
        builder: DocumentBuilder,
        choose_id: Callable[[FileTask], DocId],
        plan: PoolPlan,
    ) -> None:
        self._tasks = tasks
        self._builder = builder
        self._choose_id = choose_id
        self._waiting = deque(plan.units)
        self._for_workers = {number for unit in plan.units for number in unit.files}
        self._slots = [_Slot() for _ in range(plan.workers)]
        self._results: dict[int, BuildResult] = {}
        self._ahead = 0
        self._retried: set[int] = set()
        self._current = 0
        self._start_failures = 0
        cuts = counts_in_worker(builder)
        budget = builder.budget if cuts else Budget(builder.budget.limit)
        self._handler = WorkerBuilder(replace(builder, budget=budget), cuts)

    def iterate(self, should_stop: Callable[[], bool]) -> Iterator[BuildResult]:
        """Yield the results in the order of the files; None when the run stops."""
        for number in range(len(self._tasks)):
            if number not in self._for_workers:
                self._collect(0)
                yield None
                continue
            self._current = number
            self._collect(0)
            while number not in self._results and self._is_usable and not should_stop():
                self._collect(_POLL_S)
            yield self._take_result(number)

    def _take_result(self, number: int) -> BuildResult:
        if number in self._results:
            self._ahead -= self._weigh(number)
        return self._results.pop(number, None)

    def _put_result(self, number: int, result: BuildResult) -> None:
        self._results[number] = result
        self._ahead += self._weigh(number)

    def _weigh(self, number: int) -> int:
        """Return the share of a file in what may wait in memory; an isolated one may be large."""
        is_isolated = self._builder.is_isolated(self._tasks[number].entry.media)
        return BATCH_FILES if is_isolated else 1

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
        while self._waiting and self._is_usable and self._has_room(self._waiting[0]):
            slot = min(self._slots, key=lambda slot: (slot.retires, len(slot.units)))
            if slot.retires or len(slot.units) >= _QUEUED:
                return
            if not self._send(slot, self._waiting[0]):
                return
            self._waiting.popleft()

    def _has_room(self, unit: Unit) -> bool:
        """Return whether the results of a unit may wait in memory, or are wanted now."""
        return self._ahead < _UNITS_AHEAD * BATCH_FILES or unit.files[0] <= self._current

    def _send(self, slot: _Slot, unit: Unit) -> bool:
        try:
            worker = slot.start(self._handler)
        except OSError:
            self._start_failures += 1
            return False
        tasks = [self._tasks[number] for number in unit.files]
        sent = worker.send(
            [BuildTask(task.source, task.entry, self._choose_id(task)) for task in tasks]
        )
        if sent:
            if not slot.units and worker.is_ready:
                worker.restart_clock()
            slot.units.append(unit)
        return sent

    def _receive(self, slot: _Slot, worker: WorkerProcess) -> None:
        was_ready = worker.is_ready
        reply = worker.receive()
        worker.restart_clock()
        if reply is None and not was_ready:
            self._start_failures += 1
            self._give_back(slot)
            slot.end()
        elif reply is None:
            self._fail(slot, slot.end())
        elif was_ready:
            self._store_reply(slot, reply)

    def _store_reply(self, slot: _Slot, reply: Reply) -> None:
        if reply.fault:
            slot.end()
            self._fail(slot, reply.fault)
            return
        unit = slot.units.popleft()
        for number, result in zip(unit.files, reply.result, strict=True):
            self._put_result(number, result)
        slot.units_done += 1
        slot.documents += unit.isolated
        max_memory = self._builder.max_memory_mb * _MB * _MAX_MEMORY_SHARE
        has_grown = bool(max_memory) and reply.memory > max_memory
        slot.retires = slot.retires or slot.documents >= _MAX_DOCUMENTS or has_grown
        if slot.retires and not slot.units:
            slot.end()

    def _enforce_deadline(self, slot: _Slot) -> None:
        if slot.worker is None:
            return
        elapsed = slot.worker.read_elapsed()
        if not slot.worker.is_ready:
            if elapsed.clock > START_S:
                self._start_failures = _MAX_START_FAILURES
            return
        files = slot.units[0].files if slot.units else ()
        limits = [self._builder.get_deadline(self._tasks[number].entry.media) for number in files]
        if limits and all(limits) and elapsed.exceeds(sum(limits), GRACE_S):
            slot.end()
            self._fail(slot, "", late=elapsed)

    def _fail(self, slot: _Slot, cause: str, late: Elapsed | None = None) -> None:
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
                self._put_result(number, self._build_error(number, cause, late))
        self._give_back(slot)

    def _give_back(self, slot: _Slot) -> None:
        """Let other workers have the units of a worker that has ended."""
        self._waiting = deque(sorted([*slot.units, *self._waiting]))
        slot.units.clear()

    def _build_error(self, number: int, cause: str, late: Elapsed | None) -> Signal:
        entry = self._tasks[number].entry
        if late is not None:
            return late.build_timeout(self._builder.get_deadline(entry.media), entry.path)
        return build_failure(entry.path, self._builder.parsers[entry.media].version, cause)
