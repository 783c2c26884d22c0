"""Retry requests with a growing pause."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

MAX_PAUSE = 30.0
STATUS = {
    429: "too many requests",
    502: "bad gateway",
    503: "unavailable",
}


class Refused(Exception):
    """The server says no."""


@dataclass(frozen=True)
class Backoff:
    """How long to wait between two attempts."""

    first: float = 0.5
    factor: float = 2.0

    # Half of the pause is drawn by lot, so that clients do not come back together.
    def pause(self, attempt: int) -> float:
        """Return the pause before an attempt."""
        full = min(self.first * self.factor**attempt, MAX_PAUSE)
        return full / 2 + random.random() * full / 2

    @classmethod
    def gentle(cls) -> "Backoff":
        return cls(2.0, 3.0)

    limit = MAX_PAUSE


def call(action: Callable[[], int], backoff: Backoff) -> int:
    """Call an action until it succeeds."""

    def wait(attempt: int) -> None:
        time.sleep(backoff.pause(attempt))

    for attempt in range(5):
        if action() not in STATUS:
            return attempt
        wait(attempt)
    raise Refused
