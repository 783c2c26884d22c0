"""Answers reads in worker processes, so that the server uses more than one core.

`Service` answers a read that is alone in its own process, and gives others to `ReadWorkers`.
"""

import time
from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple

from kebab.limits.worker import WorkerProcess

MOST_TASK_BYTES = 32_768
"""The largest body for a worker. The pipe takes it at once, so sending never waits."""

_UNUSED_S = 60.0
"""The seconds without a read after which a worker ends."""
_POLL_S = 0.1
_GRACE_S = 1.0
"""How long a worker goes on when nobody waits for its read; a new process costs more."""
_PAUSE_S, _MOST_FAILURES = 0.5, 7
"""The pause after a worker that ended. Each further one doubles it, up to this number."""


class Task(NamedTuple):
    """A read for a worker, with the trace of its request."""

    operation: str
    raw: bytes
    trace: str | None


class _Worker:
    """A process, and how many messages it sends before it is free."""

    def __init__(self, process: WorkerProcess) -> None:
        self.process = process
        self.unread = 2  # that it is ready, and what its first task returns
        self.used_at = time.monotonic()

    def is_free(self) -> bool | None:
        """Read what it sent by now; return whether nothing is missing, None when it ended."""
        while self.process.poll(0):
            if self.process.receive() is None:
                return None
            self.unread -= 1
        return not self.unread


class ReadWorkers:
    """Worker processes that the threads of a server share; each answers one read at a time.

    Args:
        handler: Answers a task in a worker; it has to be picklable.
        most: How many workers run at the same time.
    """

    def __init__(self, handler: Callable[[Task], Any], most: int) -> None:
        self._handler = handler
        self._most = most
        self._resting: list[_Worker] = []
        self._count = 0
        self._failures = 0
        self._starts_at = 0.0
        self._lock = RLock()

    def answer(self, task: Task, is_stopped: Callable[[], bool]) -> Any | None:
        """Return what the handler returns; None when no worker is free, or it ended.

        The system ends a worker with the thread that started it, so only lasting threads may call.

        Args:
            task: The read. A worker that this call starts gets it too, to open what a read needs.
            is_stopped: Returns whether nobody waits for the result any more.
        """
        worker = self._take()
        if worker is None:
            self._start(task)
            return None
        worker.process.send(task)
        stops_at = float("inf")
        while not (has_replied := worker.process.poll(_POLL_S)) and time.monotonic() < stops_at:
            if is_stopped():
                stops_at = min(stops_at, time.monotonic() + _GRACE_S)
        reply = worker.process.receive() if has_replied else None
        if reply is None:
            worker.process.close()
            self._note_failure()
            return None
        worker.used_at, self._failures = time.monotonic(), 0
        with self._lock:
            self._resting.append(worker)
        return reply.result

    def end_unused(self, unused_s: float = _UNUSED_S) -> None:
        """End the workers that had no read for some seconds."""
        before = time.monotonic() - unused_s
        with self._lock:
            ended = [one for one in self._resting if one.used_at <= before]
            self._resting = [one for one in self._resting if one.used_at > before]
            self._count -= len(ended)
        for one in ended:
            one.process.close()

    def close(self) -> None:
        """End the workers without a read; the threads that wait for others end those."""
        self._most = 0
        self.end_unused(0)

    def _take(self) -> _Worker | None:
        """Return the free worker that was used last; None when there is none."""
        with self._lock:
            for worker in reversed([*self._resting]):
                is_free = worker.is_free()
                if is_free is False:
                    continue
                self._resting.remove(worker)
                if is_free:
                    return worker
                worker.process.close()
                self._note_failure()
        return None

    def _start(self, task: Task) -> None:
        """Start a worker unless there are enough, or they end too often."""
        with self._lock:
            if self._count >= self._most or time.monotonic() < self._starts_at:
                return
            self._count += 1
            try:
                process = WorkerProcess(self._handler, 0)
            except OSError:
                self._note_failure()
            else:
                process.send(task)
                self._resting.append(_Worker(process))

    def _note_failure(self) -> None:
        with self._lock:
            self._count -= 1
            self._starts_at = time.monotonic() + _PAUSE_S * 2**self._failures
            self._failures = min(self._failures + 1, _MOST_FAILURES)
