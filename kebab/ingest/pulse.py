"""The voice of a run: progress events with their time, and never a long silence."""

from kebab.core.ports import Clock
from kebab.core.progress import Progress, ProgressKind, Report

SILENCE_S = 1.0
"""The longest time without a word while a loop is turning."""


class Pulse:
    """Sends events; remembers when it last did."""

    def __init__(self, report: Report, clock: Clock) -> None:
        self._report = report
        self._clock = clock
        self._started = self._last = clock.monotonic()

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the run began."""
        return round((self._clock.monotonic() - self._started) * 1000)

    def say(
        self,
        kind: ProgressKind,
        *,
        path: str | None = None,
        phase: str | None = None,
        count: tuple[int, int] | None = None,
        unit: str | None = None,
        message: str | None = None,
    ) -> None:
        """Send an event; `count` is (done, total)."""
        self._last = self._clock.monotonic()
        done, total = count or (None, None)
        event = Progress(
            kind=kind,
            path=path,
            phase=phase,
            done=done,
            total=total,
            unit=unit,
            message=message,
            elapsed_ms=self.elapsed_ms,
        )
        self._report(event)

    def beat(self, phase: str) -> None:
        """Send a heartbeat when nothing was said for a while."""
        if self._clock.monotonic() - self._last >= SILENCE_S:
            self.say(ProgressKind.HEARTBEAT, phase=phase)
