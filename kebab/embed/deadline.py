"""Limits the time of runs of the ONNX model."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Deadline:
    """Limits each run to the same time; 0 milliseconds mean no limit.

    One thread watches all runs, because a thread for each run costs a short query a tenth of its
    time. It sleeps until the oldest run is due; runs that start meanwhile are due later.
    """

    def __init__(self, milliseconds: int) -> None:
        self.milliseconds = milliseconds
        self._lock = threading.Lock()
        self._due: dict[int, tuple[float, Any]] = {}
        self._watching = False

    @contextmanager
    def limit(self, options: Any) -> Iterator[None]:
        """Terminate the run with these `onnxruntime.RunOptions` when the block takes too long."""
        if not self.milliseconds:
            yield
            return
        try:
            self._register(options)
            yield
        finally:
            with self._lock:
                self._due.pop(id(options), None)

    def _register(self, options: Any) -> None:
        """Record when a run is due, and start the watching thread."""
        with self._lock:
            self._due[id(options)] = (time.monotonic() + self.milliseconds / 1000, options)
            if self._watching:
                return
            threading.Thread(target=self._watch, name="embed-deadline", daemon=True).start()
            self._watching = True

    def _watch(self) -> None:
        while (wait := self._terminate_late_runs()) is not None:
            time.sleep(wait)

    def _terminate_late_runs(self) -> float | None:
        """Terminate late runs; return the seconds until the next one is due, None without runs."""
        with self._lock:
            now = time.monotonic()
            for key, (due, options) in list(self._due.items()):
                if due > now:
                    return due - now
                options.terminate = True
                del self._due[key]
            self._watching = False
            return None
