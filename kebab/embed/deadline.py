"""Ends runs of the model that take too long, with one thread for all of them.

A thread for each run costs a short question a tenth of its time. This one sleeps until the oldest
run in progress would be late; whatever began meanwhile is due later, so it need not be told.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Deadline:
    """Bounds each run to the same time; `milliseconds` of 0 mean no bound."""

    def __init__(self, milliseconds: int) -> None:
        self.milliseconds = milliseconds
        self._lock = threading.Lock()
        self._due: dict[int, tuple[float, Any]] = {}
        self._watching = False

    @contextmanager
    def bounds(self, options: Any) -> Iterator[None]:
        """Terminate what runs with these `onnxruntime.RunOptions` when the block takes too long."""
        if not self.milliseconds:
            yield
            return
        try:
            self._begin(options)
            yield
        finally:
            with self._lock:
                self._due.pop(id(options), None)

    def _begin(self, options: Any) -> None:
        with self._lock:
            self._due[id(options)] = (time.monotonic() + self.milliseconds / 1000, options)
            if self._watching:
                return
            threading.Thread(target=self._watch, name="embed-deadline", daemon=True).start()
            self._watching = True

    def _watch(self) -> None:
        """Sleep from one due time to the next, until nothing runs any more."""
        while (wait := self._next()) is not None:
            time.sleep(wait)

    def _next(self) -> float | None:
        """Terminate what is late; return the seconds until the next is, None when nothing runs."""
        with self._lock:
            now = time.monotonic()
            for key, (due, options) in list(self._due.items()):
                if due > now:
                    return due - now
                options.terminate = True
                del self._due[key]
            self._watching = False
            return None
