"""Decides which source gives the weights: all are asked at once, the first in order that answers.

Asking at once keeps the wait short when there is no network; the order keeps the choice the same
whoever is quicker.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab.core.cancel import Cancel
from kebab.core.progress import Progress, ProgressKind, Report
from kebab.embed.child import Child
from kebab.embed.offer import Offer
from kebab.errors.catalog import Cancelled

_TICK_SECONDS = 0.05
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a source may be silent, in seconds.

    It must show life `answer` seconds after its first line and `start` seconds after it was
    started; once it is downloading, it may stand still for `stall` seconds.
    """

    answer: float
    start: float
    stall: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a source did not give the weights."""

    label: str
    reason: str


QUICK = Limits(answer=2.2, start=2.8, stall=30.0)
PATIENT = Limits(answer=30.0, start=40.0, stall=120.0)
# pip takes its time before it prints anything on a slow machine, and that is not the network's.
_SLOW_START = 2.5


class Watch:
    """What every wait of a fetch does: look at the cancel flag and report once in a while."""

    def __init__(self, report: Report, cancel: Cancel) -> None:
        self._report = report
        self._cancel = cancel
        self._started = time.monotonic()
        self._reported = float("-inf")

    def tick(self, phase: str, message: str, done: int | None, total: int | None) -> None:
        """Wait a moment.

        Raises:
            Cancelled: The work was asked to stop.
        """
        if self._cancel.requested:
            raise Cancelled(operation="fetching the embedding model")
        now = time.monotonic()
        if now - self._reported >= _REPORT_SECONDS:
            self._reported = now
            elapsed = int((now - self._started) * 1000)
            self._report(
                Progress(
                    kind=ProgressKind.MODEL_FETCH,
                    phase=phase,
                    done=done,
                    total=total,
                    unit="bytes",
                    message=message,
                    elapsed_ms=elapsed,
                )
            )
        time.sleep(_TICK_SECONDS)


class Contest:
    """One run over offers in order of preference."""

    def __init__(self, offers: Sequence[Offer], folder: Path, limits: Limits, watch: Watch) -> None:
        self._offers = offers
        self._folder = folder
        self._limits = limits
        self._watch = watch
        self._running: dict[int, Child] = {}
        self._starts = 0
        self.refusals: list[Refusal] = []
        """Why each source that was tried did not give the weights, in order."""

    def winner(self) -> tuple[Offer, Path] | None:
        """Return the first offer that is kept, and the folder with its files; None when none is.

        Raises:
            Cancelled: The work was asked to stop.
        """
        try:
            for index in range(len(self._offers)):
                self._start(index)
            for index, offer in enumerate(self._offers):
                child = self._start(index)
                reason = self._answer(offer, child) or self._keep(index, child)
                if reason is None:
                    return offer, child.folder
                self._stop(index)
                self.refusals.append(Refusal(offer.label, reason))
            return None
        finally:
            for index in list(self._running):
                self._stop(index)

    def _start(self, index: int) -> Child:
        """Return the running child of an offer, started now unless it runs already."""
        if index not in self._running:
            offer = self._offers[index]
            self._starts += 1
            folder = self._folder / f"{offer.kind}-{self._starts}"
            child = Child(offer.arguments, folder, offer.environment, offer.life)
            self._running[index] = child
        return self._running[index]

    def _stop(self, index: int) -> None:
        """Stop the child of an offer."""
        self._running.pop(index).stop()

    def _answer(self, offer: Offer, child: Child) -> str | None:
        """Wait until the source answers; return why it is given up, or None."""
        while not child.alive and child.status() is None:
            waited = time.monotonic() - child.started
            if time.monotonic() > self._deadline(child):
                return f"no answer within {waited:.1f} s"
            self._watch.tick("connect", offer.label, None, None)
        if not child.alive and child.status():
            return child.last_words(offer.telling)
        return None

    def _deadline(self, child: Child) -> float:
        """Return the moment by which a source must have answered."""
        latest = child.started + self._limits.start + _SLOW_START
        if child.first_line is None:
            return latest
        on_time = max(child.started + self._limits.start, child.first_line + self._limits.answer)
        return min(latest, on_time)

    def _keep(self, index: int, child: Child) -> str | None:
        """Download from the source that answered; return why it failed, or None when done."""
        for later in [other for other in self._running if other != index]:
            self._stop(later)
        offer = self._offers[index]
        total = child.total or offer.size
        told = (f"{offer.model.name} from {offer.label}", total)
        return follow(child, self._watch, "download", told, self._limits.stall, offer.telling)


def follow(
    child: Child,
    watch: Watch,
    phase: str,
    told: tuple[str, int | None],
    stall: float,
    telling: Sequence[str] = (),
) -> str | None:
    """Wait for a child to finish while its files grow; return why it failed, or None."""
    message, total = told
    size, moved = -1, time.monotonic()
    while child.status() is None:
        now_size = child.bytes_written()
        if now_size != size:
            size, moved = now_size, time.monotonic()
        if time.monotonic() - moved > stall:
            return f"nothing arrived for {stall:.0f} s"
        watch.tick(phase, message, min(size, total) if total else size, total)
    return child.last_words(telling) if child.status() else None
