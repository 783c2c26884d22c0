"""A background thread that calls a function at regular intervals."""

import threading
from collections.abc import Callable
from typing import Self


class Heartbeat:
    """Calls `beat` every `interval_s` seconds while the context is open."""

    def __init__(self, beat: Callable[[], None], interval_s: float) -> None:
        self._beat = beat
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and wait for the thread to end."""
        self.stop()
        self._thread.join()

    @property
    def stopped(self) -> bool:
        """Whether there will be no further call."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Make no further call; a call that is running ends by itself."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._beat()
