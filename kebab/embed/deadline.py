"""Limits the processor time of runs of the ONNX model.

A busy machine lets a run wait for other programs, so its limit counts the processor time of the
threads that work on it. A run that hangs ends after `WALL_FACTOR` times the limit by the clock.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kebab.limits.deadline import WALL_FACTOR

_SHORTEST_WAIT_S = 0.005


class RunTime:
    """Adds up the processor time of the threads that work on one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0.0
        self._working: dict[int, float] = {}
        """The processor time at which each thread began."""

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the processor time that this thread needs for the block."""
        thread = threading.get_ident()
        with self._lock:
            self._working[thread] = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                self._done += time.thread_time() - self._working.pop(thread)

    def read(self) -> float:
        """Return the seconds so far; where no thread can be asked, only those of ended blocks."""
        with self._lock:
            total = self._done
            if hasattr(time, "pthread_getcpuclockid"):
                for thread, began in self._working.items():
                    total += time.clock_gettime(time.pthread_getcpuclockid(thread)) - began
            return total


class Deadline:
    """Limits each run to the same processor time; 0 milliseconds mean no limit.

    One thread watches all runs, because a thread for each run costs a short query a tenth of its
    time. It sleeps until the first run can be due, with all `threads` at work on it.
    """

    def __init__(self, milliseconds: int, threads: int = 1) -> None:
        self.milliseconds = milliseconds
        self._threads = threads
        self._lock = threading.Lock()
        self._runs: dict[int, tuple[float, RunTime, Any]] = {}
        self._watching = False

    @contextmanager
    def limit(self, options: Any, run_time: RunTime) -> Iterator[None]:
        """Terminate the run with these `onnxruntime.RunOptions` when it takes too long."""
        if not self.milliseconds:
            yield
            return
        try:
            self._register(options, run_time)
            yield
        finally:
            with self._lock:
                self._runs.pop(id(options), None)

    def _register(self, options: Any, run_time: RunTime) -> None:
        """Record when a run began, and start the watching thread."""
        with self._lock:
            self._runs[id(options)] = (time.monotonic(), run_time, options)
            if self._watching:
                return
            threading.Thread(target=self._watch, name="embed-deadline", daemon=True).start()
            self._watching = True

    def _watch(self) -> None:
        while (wait := self._terminate_late_runs()) is not None:
            time.sleep(wait)

    def _terminate_late_runs(self) -> float | None:
        """Terminate late runs; return the seconds until the next can be due, None without runs."""
        limit = self.milliseconds / 1000
        waits = []
        with self._lock:
            for key, (began, run_time, options) in list(self._runs.items()):
                left = limit - run_time.read()
                left_by_clock = began + limit * WALL_FACTOR - time.monotonic()
                if left > 0 and left_by_clock > 0:
                    waits.append(min(left / self._threads, left_by_clock))
                else:
                    options.terminate = True
                    del self._runs[key]
            self._watching = bool(waits)
            return max(min(waits), _SHORTEST_WAIT_S) if waits else None
