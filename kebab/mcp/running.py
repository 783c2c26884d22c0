"""Runs the calls of MCP clients in threads."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from kebab.core.progress import Cancel

_MOST_CALLS = 4
"""The calls that run at once; others wait."""


class Call:
    """A piece of work that can be cancelled, for one request."""

    def __init__(self, work: Callable[["Call"], None]) -> None:
        self.cancel = Cancel()
        self.is_given_up = False
        self._work = work

    def run(self) -> None:
        """Do the work in this thread, unless nobody waits for it any more."""
        if not self.is_given_up:
            # Work that takes no flag is stopped by its next report.
            with suppress(KeyboardInterrupt):
                self._work(self)


class RunningCalls:
    """Runs calls in the order in which they arrive; its threads keep no process alive."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._running: set[Call] = set()

    def start(self, call: Call) -> None:
        """Run a call as soon as there is a place for it."""
        with self._changed:
            self._waiting.append(call)
            self._fill_places()

    def give_up(self, call: Call) -> None:
        """Ask a call to stop; its place is free at once."""
        call.is_given_up = True
        call.cancel.request()
        with self._changed:
            self._running.discard(call)
            self._fill_places()

    def stop(self, timeout_s: float) -> None:
        """Ask all calls to stop, and wait until they have ended."""
        with self._changed:
            for call in (*self._running, *self._waiting):
                call.cancel.request()
            self._changed.wait_for(lambda: not self._running, timeout_s)
            self._running.clear()
            self._waiting.clear()

    def _fill_places(self) -> None:
        while self._waiting and len(self._running) < _MOST_CALLS:
            call = self._waiting.popleft()
            self._running.add(call)
            threading.Thread(target=self._run, args=(call,), daemon=True).start()

    def _run(self, call: Call) -> None:
        try:
            call.run()
        finally:
            with self._changed:
                self._running.discard(call)
                self._fill_places()
                self._changed.notify_all()
