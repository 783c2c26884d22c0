"""A heartbeat for long work: when nothing was said for a while, say that it is still at work."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from kebab.core.progress import Progress, ProgressKind
from kebab.wire.ingest import IngestReport

SILENCE_S = 1.0
"""The longest time without an event."""


class Display(Protocol):
    """What shows progress."""

    def __call__(self, event: Progress) -> None:
        """Take an event."""

    def stopping(self) -> None:
        """Say that the work ends soon."""

    def leave(self) -> None:
        """Tidy up when the process is left at once."""

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Take the end."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...


class Ticker:
    """Passes events on, and repeats the last one as a heartbeat in every long silence."""

    def __init__(
        self,
        display: Display,
        *,
        silence_s: float = SILENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._display = display
        self._silence_s = silence_s
        self._clock = clock
        self._started = self._last = clock()
        self._event = Progress(kind=ProgressKind.HEARTBEAT)
        self._over = threading.Event()
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._tick, name="ticker", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Fall silent."""
        self._over.set()
        self._thread.join()

    def __call__(self, event: Progress) -> None:
        """Take an event."""
        with self._lock:
            self._event, self._last = event, self._clock()
            self._display(event)

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Take the end, after which there is no heartbeat any more."""
        self._over.set()
        with self._lock:
            self._display.finish(status, report, cancelled=cancelled)

    def beat(self) -> None:
        """Send a heartbeat when the silence has become too long."""
        with self._lock:
            if not self._over.is_set() and self._clock() - self._last >= self._silence_s:
                elapsed = round((self._clock() - self._started) * 1000)
                phase, path = self._event.phase, self._event.path
                kind = ProgressKind.HEARTBEAT
                self(Progress(kind=kind, phase=phase, path=path, elapsed_ms=elapsed))

    def _tick(self) -> None:
        while not self._over.wait(self._silence_s / 2):
            self.beat()
