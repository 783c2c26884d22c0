"""Answers reads in worker processes, so that the server uses more than one core.

`Service` answers a read that is alone in its own process, and gives others to `ReadWorkers`.
"""

import time
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
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
