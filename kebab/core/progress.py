"""Declares the progress of long work: its events, its cancellation and its heartbeat."""

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Self, TypeAlias


class ProgressKind(StrEnum):
    """The kinds of progress events; exactly one terminal event ends a run."""

    SCAN_STARTED = "scan_started"
    SCAN_COMPLETED = "scan_completed"
    ASSET_STARTED = "asset_started"
    ASSET_FINISHED = "asset_finished"
    MODEL_FETCH = "model_fetch"
    EMBED_BATCH = "embed_batch"
    HEARTBEAT = "heartbeat"
    COMPLETED = "completed"
    ABORTED = "aborted"


class Progress(NamedTuple):
    """One event. `done` and `total` count files, bytes or chunks, as `unit` says.

    `per_second` is the rate of the last minute, and `seconds_left` what is left at this rate.
    """

    kind: ProgressKind
    path: str | None = None
    phase: str | None = None
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    message: str | None = None
    elapsed_ms: int = 0
    per_second: float | None = None
    seconds_left: float | None = None


ProgressCallback: TypeAlias = Callable[[Progress], None]


def ignore_progress(_event: Progress) -> None:
    """Ignore an event."""


class Cancel:
    """A flag that stops work; a signal handler or another thread may set it."""

    def __init__(self) -> None:
        self._requested = False

    def request(self) -> None:
        """Ask the work to stop after its current step."""
        self._requested = True

    @property
    def requested(self) -> bool:
        """Whether the work was asked to stop."""
        return self._requested


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
        """Make no further call; a running call completes."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            self._beat()
