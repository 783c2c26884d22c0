"""Runs operations in a fixed number of threads, over a pool of knowledge bases.

Jobs begin in the order in which they arrive. Reads that come together run in worker processes.

The event loop only waits. A job can be stopped: its `Cancel` flag is set, or a `KeyboardInterrupt`
is raised in its thread, which every operation handles as Ctrl-C on the command line.
"""

import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from queue import Full, Queue
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab import __version__
from kebab.app.classify import accept_trace, find_trace
from kebab.app.dispatch import KebabPool, decode_operation_request, format_reply, report_failure
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    Cancelled,
    ReadOnly,
    ServerBusy,
    TimedOut,
    UsageInvalid,
    build_catalog,
)
from kebab.errors.signal import Signal
from kebab.platform import count_cores
from kebab.wire.error import ErrorReply
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, encode_json

if TYPE_CHECKING:
    from kebab.app.facade import Kebab
    from kebab.limits.worker import WorkerProcess


MOST_TASK_BYTES = 32_768
"""The largest body for a worker. The pipe takes it at once, so sending never waits."""

_UNUSED_S = 60.0
"""The seconds without a read after which a worker ends."""
_POLL_S = 0.1
_GRACE_S = 1.0
"""How long a worker goes on when nobody waits for its read; a new process costs more."""
_PAUSE_S = 2.0
"""How long no worker is started after one was lost."""


class Task(NamedTuple):
    """A read for a worker, with the trace of its request."""

    operation: str
    raw: bytes
    trace: str | None


class ReadWorkers:
    """Worker processes that the threads of a server share; each answers one read at a time.

    The handler has to be picklable.
    """

    def __init__(self, handler: Callable[[Task], Any], most: int) -> None:
        self._handler = handler
        self._most = most
        self._resting: dict[WorkerProcess, float] = {}
        """Workers without a read, and when they began to rest; the last one was used last."""
        self._count = 0
        self._starts_at = 0.0
        self._lock = RLock()

    def answer(self, task: Task, is_stopped: Callable[[], bool]) -> Any | None:
        """Return what the handler returns; None when no worker is free, or it ended.

        The system ends a worker with the thread that started it, so only lasting threads may call.

        A worker that this call starts gets the read too, to open what it needs.
        `is_stopped` tells whether nobody waits for the result any more.
        """
        worker = self._take()
        if worker is None:
            self._start(task)
            return None
        worker.send(task)
        stops_at = float("inf")
        while not (has_replied := worker.poll(_POLL_S)) and time.monotonic() < stops_at:
            if is_stopped():
                stops_at = min(stops_at, time.monotonic() + _GRACE_S)
        reply = worker.receive() if has_replied else None
        with self._lock:
            if reply is None or not self._most:
                self._drop(worker)
            else:
                self._resting[worker] = time.monotonic()
        return reply.result if reply else None

    def end_unused(self, unused_s: float = _UNUSED_S) -> None:
        """End the workers that had no read for some seconds."""
        before = time.monotonic() - unused_s
        with self._lock:
            for worker in [one for one, since in self._resting.items() if since <= before]:
                del self._resting[worker]
                self._count -= 1
                worker.close()

    def close(self) -> None:
        """End the workers without a read; the threads that wait for others end those."""
        self._most = 0
        self.end_unused(0)

    def _take(self) -> "WorkerProcess | None":
        """Return the worker without work that was used last; None when there is none."""
        with self._lock:
            for worker in reversed([*self._resting]):
                has_ended = False
                while not has_ended and worker.poll(0):
                    has_ended = worker.receive() is None
                if has_ended or worker.is_idle:
                    del self._resting[worker]
                if has_ended:
                    self._drop(worker)
                elif worker.is_idle:
                    return worker
        return None

    def _start(self, task: Task) -> None:
        """Start a worker unless there are enough, or one has just ended."""
        from kebab.limits.worker import WorkerProcess

        with self._lock:
            if self._count >= self._most or time.monotonic() < self._starts_at:
                return
            try:
                worker = WorkerProcess(self._handler, 0)
            except OSError:
                self._starts_at = time.monotonic() + _PAUSE_S
                return
            worker.send(task)
            self._count += 1
            self._resting[worker] = time.monotonic()

    def _drop(self, worker: "WorkerProcess") -> None:
        self._count -= 1
        self._starts_at = time.monotonic() + _PAUSE_S
        worker.close()


T = TypeVar("T")


class Job(Generic[T]):
    """A piece of work for a thread; the event loop awaits `future`.

    Args:
        work: Does the work and returns its result.
        cancel: The flag by which the work can be stopped between two steps, if it has one.
        give_up: Returns the result of work that is stopped before it begins.
        delegate: Lets another process do the work, and returns None when none did. It is not
            interrupted, and ends by itself soon after the job is stopped.
    """

    def __init__(
        self,
        work: Callable[[], T],
        cancel: Cancel | None = None,
        give_up: Callable[[], T] | None = None,
        delegate: Callable[["Job[T]"], T | None] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self._loop.create_future()
        self._work = work
        self._cancel = cancel
        self._give_up = give_up
        self._delegate = delegate
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._stops = 0

    def stop(self) -> None:
        """Stop the work; from the second time on, work with a flag is interrupted too."""
        with self._lock:
            self._stops += 1
            if self._cancel is not None:
                self._cancel.request()
            is_due = self._thread is not None and (self._cancel is None or self._stops > 1)
        if is_due and not self._interrupt():
            threading.Thread(target=self._interrupt_later, daemon=True).start()

    def _interrupt(self) -> bool:
        """Interrupt the work, unless it imports a module; return whether that is settled.

        A library whose import was interrupted may never work again in this process.
        """
        with self._lock:
            if self._thread is None:
                return True
            if _is_importing(self._thread):
                return False
            _raise_in_thread(self._thread, KeyboardInterrupt)
        return True

    def _interrupt_later(self) -> None:
        while not self._interrupt():
            time.sleep(_IMPORT_PAUSE_S)

    @property
    def stopped(self) -> bool:
        """Whether the work was asked to stop."""
        return self._stops > 0

    def run(self) -> Callable[[], None]:
        """Do the work in this thread, unless it was stopped before; return what tells the loop."""
        try:
            try:
                value = None if self.stopped or not self._delegate else self._delegate(self)
                value = self._attach_and_work() if value is None else value
            finally:
                self._detach()
        except BaseException as fault:  # noqa: BLE001 - the edge of the request
            self._detach()  # the interruption may have come within the first one
            # A future carries no other exceptions.
            shown = fault if isinstance(fault, Exception) else Interrupted(type(fault).__name__)
            return partial(self._resolve, partial(self.future.set_exception, shown))
        return partial(self._resolve, partial(self.future.set_result, value))

    def _attach_and_work(self) -> T:
        with self._lock:
            if not self._stops:
                self._thread = threading.get_ident()
        if self._thread is not None:
            return self._work()
        if self._give_up is None:
            raise KeyboardInterrupt
        return self._give_up()

    def _detach(self) -> None:
        """Let no interruption reach this thread any more."""
        with self._lock:
            self._thread = None
        _raise_in_thread(threading.get_ident(), None)

    def _resolve(self, finish: Callable[[], object]) -> None:
        def finish_once() -> None:
            if not self.future.done():
                finish()

        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(finish_once)


class Interrupted(Exception):  # noqa: N818 - not an error but an order
    """The work was stopped; a future cannot carry `KeyboardInterrupt`."""


class JobThreads:
    """Threads that share one queue of jobs."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._queue: Queue[Job[Any] | None] = Queue(most_waiting)
        self.running: set[Job[Any]] = set()
        self._threads = [
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job[Any]) -> None:
        """Queue a job.

        Raises:
            ServerBusy: Too many jobs are waiting.
        """
        try:
            self._queue.put_nowait(job)
        except Full:
            raise ServerBusy(waiting=self._queue.maxsize) from None

    def stop(self) -> None:
        """Stop the running jobs and those that wait; threads end when they are idle."""
        for job in [*self.running, *self._queue.queue]:
            if job is not None:
                job.stop()
        for _ in self._threads:
            with suppress(Full):
                self._queue.put_nowait(None)

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            self.running.add(job)
            resolve = job.run()
            self.running.discard(job)  # first, because the client may ask again at once
            resolve()
            del job, resolve  # an idle thread keeps no reply alive


def _is_importing(thread: int) -> bool:
    """Return whether a thread is within an import."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - the documented way
    while frame is not None and frame.f_code.co_filename != _IMPORT_SYSTEM:
        frame = frame.f_back
    return frame is not None


def _raise_in_thread(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next step; None withdraws one that is not raised."""
    target = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), target)


_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
_IMPORT_PAUSE_S = 0.02

ALLOW_WRITE = "--allow-write"
"""The flag of a server that may change the knowledge base."""

DEFAULT_DEADLINE_S = 60.0
_MOST_WORKERS = 4

_USAGE_HINT = "kebab serve --help"


class ServiceOptions(Struct, frozen=True, kw_only=True):
    """How a server runs operations.

    `load_settings` returns the settings of one request, and `config_path` is their file.
    """

    config_path: Path
    load_settings: Callable[[], Settings]
    allow_write: bool = False
    read_only: bool = False
    """Whether nothing at all is written, not even the query cache."""
    deadline_s: float = DEFAULT_DEADLINE_S
    """The limit of operations that are not long; waiting counts."""
    workers: int = 0
    """How many processes answer the reads that come while others are answered."""
    quick_threads: int = 2
    long_threads: int = 4
    most_waiting: int = 256
    """How many requests wait at most for the threads of each kind."""


class Outcome(Struct, frozen=True):
    """The answer to a request: an HTTP status, the reply with its envelope, and its JSON."""

    status: int
    reply: Reply | None
    """None when a worker answered without an error."""
    body: bytes

    @property
    def failed(self) -> bool:
        """Whether the reply is `error.v1`."""
        return isinstance(self.reply, ErrorReply)


def count_workers() -> int:
    """Return how many workers a server has unless told."""
    cores = count_cores()
    return 0 if cores == 1 else min(cores, _MOST_WORKERS)


def is_long(operation: str) -> bool:
    """Return whether an operation may take so long that no other request may wait for it."""
    declared = OPERATIONS[operation]
    return declared.effect != "reads" or declared.events_path is not None or declared.slow


def build_failure(
    operation: str, fault: BaseException, settings: Settings | None, status: int | None = None
) -> Outcome:
    """Log an exception and return it as `error.v1`; the status is that of its row unless given."""
    reply = report_failure(operation, fault, settings).reply
    if isinstance(fault, UsageInvalid):
        reply = msgspec.structs.replace(reply, hint=_USAGE_HINT)
    return Outcome(status or build_catalog()[reply.code].http, reply, encode_line(reply))


def encode_line(reply: Reply) -> bytes:
    """Return a reply as one line of JSON."""
    return encode_json(reply) + b"\n"


class RequestRunner:
    """Runs requests in this process; a copy in a worker has knowledge bases of its own."""

    def __init__(
        self, options: ServiceOptions, pool: KebabPool | None = None, version: str = __version__
    ) -> None:
        if version != __version__:
            raise RuntimeError("the server is of another version than the files that it started")
        self._options = options
        threads = options.quick_threads + options.long_threads
        self.pool = pool or KebabPool(threads, is_owner=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return RequestRunner, (self._options, None, __version__)

    def __call__(self, task: Task) -> Outcome:
        """Answer a read in a worker; the server uses the reply of an error only."""
        with accept_trace(task.trace):
            outcome = self.run(task)
        return outcome if outcome.failed else replace(outcome, reply=None)

    def run(
        self, task: Task, report: Callable[[Any], None] | None = None, cancel: Cancel | None = None
    ) -> Outcome:
        """Do the work of a request; every exception becomes an error."""
        operation, settings = task.operation, None
        try:
            settings = self._options.load_settings()
            request = decode_operation_request(operation, task.raw, settings)
            with self._lease(operation, settings) as kebab:
                reply = kebab.run(request, report=report, cancel=cancel)
            reply = format_reply(operation, reply, cancel=cancel)
            return Outcome(200, reply, encode_line(reply))
        except BaseException as fault:  # noqa: BLE001 - the edge of the request
            return build_failure(operation, fault, settings)

    @contextmanager
    def _lease(self, operation: str, settings: Settings) -> "Iterator[Kebab]":
        """Yield a knowledge base that refuses what this server must not do."""
        options = self._options
        refuses = OPERATIONS[operation].effect != "reads" and not options.allow_write
        read_only = options.read_only or refuses
        try:
            with self.pool.lease(
                settings, config_path=options.config_path, read_only=read_only
            ) as kebab:
                yield kebab
        except ReadOnly as refused:
            if options.read_only:
                raise
            raise ReadOnly(operation=refused.operation, needs=ALLOW_WRITE) from refused


class Service:
    """Answers requests; the event loop submits them, and threads or workers do the work."""

    def __init__(self, options: ServiceOptions, pool: KebabPool | None = None) -> None:
        self.options = options
        self._runner = RequestRunner(options, pool)
        self._workers = ReadWorkers(self._runner, options.workers)
        self._last_at = time.monotonic()
        waiting = options.most_waiting
        self._quick = JobThreads("quick", max(options.quick_threads, options.workers + 1), waiting)
        self._long = JobThreads("long", options.long_threads, waiting)

    def submit(
        self, operation: str, raw: bytes, report: Callable[[Any], None] | None = None
    ) -> Job[Outcome]:
        """Queue a request with this body; `report` receives its events in another thread.

        Raises:
            ServerBusy: Too many requests are waiting.
        """
        self._last_at = time.monotonic()
        threads = self._long if is_long(operation) else self._quick
        cancel, task = Cancel(), Task(operation, raw, find_trace())

        def delegate(job: Job[Outcome]) -> Outcome | None:
            if threads is self._long or len(threads.running) == 1 or len(raw) > MOST_TASK_BYTES:
                return None
            return self._workers.answer(task, lambda: job.stopped)

        # Each copy of the context has the trace of the request.
        answer, refuse = copy_context().run, copy_context().run
        job = Job(
            lambda: answer(self._runner.run, task, report, cancel),
            cancel if OPERATIONS[operation].cancellable else None,
            lambda: refuse(self.refuse, operation, Cancelled(operation=operation), None),
            delegate,
        )
        threads.submit(job)
        return job

    @property
    def idle_s(self) -> float:
        """For how many seconds no operation was asked for; 0 while one is running."""
        busy = self._quick.running or self._long.running
        return 0.0 if busy else time.monotonic() - self._last_at

    def refuse(self, operation: str, fault: Exception, status: int | None) -> Outcome:
        """Return the answer to a request that does not become a job."""
        try:
            settings = self.options.load_settings()
        except Signal:
            settings = None  # the error is worded without them
        return build_failure(operation, fault, settings, status)

    async def answer(self, operation: str, raw: bytes) -> Outcome:
        """Return the outcome of a request with this body.

        Raises:
            ServerBusy: Too many requests are waiting.
            TimedOut: It takes longer than the deadline.
        """
        outcome = await self.wait(operation, self.submit(operation, raw))
        assert outcome is not None, "nobody can be gone"
        return outcome

    async def wait(
        self, operation: str, job: Job[Outcome], gone: asyncio.Future[Any] | None = None
    ) -> Outcome | None:
        """Wait for the outcome of a job; return None when the client was `gone` before.

        Raises:
            TimedOut: It takes longer than the deadline.
        """
        limit_s = self.get_deadline(operation)
        first = {job.future} if gone is None else {job.future, gone}
        try:
            await asyncio.wait(first, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if job.future.done():
                return job.future.result()
            if gone is not None and gone.done():
                return None
        finally:
            job.stop()
        limit_ms = round((limit_s or 0) * 1000)
        raise TimedOut(operation=operation, elapsed_ms=limit_ms, deadline_ms=limit_ms)

    def get_deadline(self, operation: str) -> float | None:
        """Return the seconds that an operation may take; None for long ones, which limit it."""
        return None if is_long(operation) else self.options.deadline_s or None

    async def end_unused_workers(self) -> None:
        """Give back the memory of processes that had nothing to do for a while."""
        self._workers.end_unused()

    def stop(self) -> None:
        """Stop all work."""
        self._quick.stop()
        self._long.stop()

    def close(self) -> None:
        """Stop all work, end the workers, and close the knowledge bases that are not in use."""
        self.stop()
        self._workers.close()
        self._runner.pool.close()
