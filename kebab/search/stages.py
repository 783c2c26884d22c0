"""The trace of a search: what each stage took and gave."""

from collections.abc import Callable

from kebab.wire.search import TraceStage


class Stages:
    """Notes stages as they end; each lasts from the end of the one before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = self._last = clock()
        self._stages: list[TraceStage] = []

    def note(self, stage: str, candidates: int, note: str = "") -> None:
        """Note that a stage has ended and how many candidates it gave on."""
        now = self._clock()
        cost = round((now - self._last) * 1000, 3)
        self._stages.append(
            TraceStage(stage=stage, duration_ms=cost, candidates=candidates, note=note)
        )
        self._last = now

    def elapsed_ms(self) -> float:
        """Return how long the search has taken."""
        return round((self._clock() - self._began) * 1000, 3)

    def all(self) -> tuple[TraceStage, ...]:
        """Return the stages in order."""
        return tuple(self._stages)
