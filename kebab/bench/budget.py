"""What a figure should be: a bound on its median, or on its ratio to a yardstick."""

from dataclasses import dataclass

TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound; `unit` is that of the figure, or `TIMES` for a ratio."""

    limit: float
    unit: str
    at_least: bool = False

    @property
    def of_ratio(self) -> bool:
        """Whether the ratio is bounded, not the figure itself."""
        return self.unit == TIMES

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"

    def share(self, value: float) -> float:
        """Return how much of the budget a value uses; above 1 is over it."""
        if self.at_least:
            return self.limit / value if value > 0 else float("inf")
        return value / self.limit


def ratio(limit: float) -> Budget:
    """Return a budget for a ratio that may not be higher."""
    return Budget(limit, TIMES)


def at_least_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that may not be lower."""
    return Budget(limit, TIMES, at_least=True)
