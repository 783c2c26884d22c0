"""Tells what is being measured, also while one process takes long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from kebab.wire.bench import BenchProgress

Tell: TypeAlias = Callable[[BenchProgress], None]
_INTERVAL_S = 2.0


class Pace:
    """The progress of one run."""

    def __init__(self, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()
        self._now: tuple[str, int, int] = ("start", 0, 1)

    def elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def at(self, name: str, done: int, total: int) -> None:
        """Tell what is measured from here on."""
        with self._lock:
            self._now = (name, done, total)
        self._say()

    @contextmanager
    def ticking(self, interval_s: float = _INTERVAL_S) -> Iterator[None]:
        """Repeat what was said last, so that a long step does not look dead."""
        over = threading.Event()

        def tick() -> None:
            while not over.wait(interval_s):
                self._say()

        thread = threading.Thread(target=tick, name="pace", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _say(self) -> None:
        with self._lock:
            name, done, total = self._now
            elapsed = self.elapsed_ms()
            self._tell(BenchProgress(name=name, done=done, total=total, elapsed_ms=elapsed))
