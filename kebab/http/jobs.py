"""Runs operations in a fixed number of threads, in the order in which they arrive.

The event loop only waits. A job can be stopped: its `Cancel` flag is set, or a `KeyboardInterrupt`
is raised in its thread, which every operation handles as Ctrl-C on the command line.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Full, Queue
from typing import Any, Generic, TypeVar

from kebab.core.progress import Cancel
from kebab.errors.catalog import ServerBusy

T = TypeVar("T")


class Job(Generic[T]):
    """A piece of work for a thread; the event loop awaits `future`.

    Args:
        work: Does the work and returns its result.
        cancel: The flag by which the work can be stopped between two steps, if it has one.
        give_up: Returns the result of work that is stopped before it begins.
    """

    def __init__(
        self,
        work: Callable[[], T],
        cancel: Cancel | None = None,
        give_up: Callable[[], T] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self._loop.create_future()
        self._work = work
        self._cancel = cancel
        self._give_up = give_up
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._stops = 0

    def stop(self) -> None:
        """Stop the work; from the second time on, work with a flag is interrupted too."""
        with self._lock:
            self._stops += 1
            if self._cancel is not None:
                self._cancel.request()
            if self._thread is not None and (self._cancel is None or self._stops > 1):
                _raise_in_thread(self._thread, KeyboardInterrupt)

    @property
    def stopped(self) -> bool:
        """Whether the work was asked to stop."""
        return self._stops > 0

    def run(self) -> None:
        """Do the work in this thread, unless it was stopped before."""
        try:
            try:
                value = self._attach_and_work()
            finally:
                self._detach()
        except BaseException as fault:  # noqa: BLE001 - it belongs to the one who awaits
            self._detach()  # the interruption may have come within the first one
            self._resolve(partial(self.future.set_exception, _make_awaitable(fault)))
        else:
            self._resolve(partial(self.future.set_result, value))

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
    """Threads that share one queue of jobs.

    Args:
        name: The name of the threads.
        threads: How many jobs run at the same time.
        most_waiting: How many jobs wait at most.
    """

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._queue: Queue[Job[Any] | None] = Queue(most_waiting)
        self._running: set[Job[Any]] = set()
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
        for job in [*self._running, *self._queue.queue]:
            if job is not None:
                job.stop()
        for _ in self._threads:
            with suppress(Full):
                self._queue.put_nowait(None)

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            self._running.add(job)
            job.run()
            self._running.discard(job)
            del job  # an idle thread keeps no reply alive


def _make_awaitable(fault: BaseException) -> Exception:
    """Return an exception that a future can carry."""
    return fault if isinstance(fault, Exception) else Interrupted(type(fault).__name__)


def _raise_in_thread(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next step; None withdraws one that is not raised."""
    target = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), target)
