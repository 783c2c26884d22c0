"""Sends the progress of long work to the client, from the thread that works."""

import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import anyio.from_thread

from kebab.core.progress import Cancel

_INTERVAL_S = 0.25
"""The least time between two notifications."""

Notify = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]


class ProgressReporter:
    """Turns events of an operation into notifications whose numbers always increase."""

    def __init__(self, notify: Notify, cancel: Cancel) -> None:
        self._notify = notify
        self._cancel = cancel
        self._count = 0
        self._next = 0.0

    def report(self, event: Any) -> None:
        """Send an event, unless one was sent just before.

        Raises:
            KeyboardInterrupt: The request was cancelled, and the work takes no flag: an answer.
        """
        kind = str(getattr(event, "kind", "") or getattr(event, "type", ""))
        if self._cancel.requested:
            if hasattr(event, "delta"):
                raise KeyboardInterrupt
            return
        self._count += 1
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL_S
        # The request may end while this thread goes on.
        with suppress(RuntimeError):
            anyio.from_thread.run(self._notify, float(self._count), None, _describe(event, kind))


def _describe(event: Any, kind: str) -> str:
    """Return what is being done, with its numbers."""
    done, total = getattr(event, "done", None), getattr(event, "total", None)
    text = getattr(event, "message", None) or getattr(event, "phase", None) or kind
    if isinstance(done, int) and isinstance(total, int):
        return f"{text} {done:,}/{total:,} {getattr(event, 'unit', None) or ''}".strip()
    return str(text).replace("_", " ")
