"""Collects the figures of a run, judges them by budgets, and records what was not measured."""

from dataclasses import dataclass, field
from statistics import median, quantiles

from kebab.bench.interleave import Sample
from kebab.wire.evals import BenchFigure, BenchGap, BenchGrowth, BenchImports

TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound on a median, or on a ratio: `unit` is the unit of the figure, or `TIMES`."""

    limit: float
    unit: str
    at_least: bool = False

    @property
    def of_ratio(self) -> bool:
        """Whether the bound applies to the ratio and not to the figure itself."""
        return self.unit == TIMES

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"

    def compute_share(self, value: float) -> float:
        """Return how much of the budget a value uses; more than 1 exceeds it."""
        if self.at_least:
            return self.limit / value if value > 0 else float("inf")
        return value / self.limit


def limit_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be higher."""
    return Budget(limit, TIMES)


def require_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be lower."""
    return Budget(limit, TIMES, at_least=True)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The measured values that a figure is compared with."""

    name: str
    sample: Sample


@dataclass(slots=True)
class Results:
    """The figures of a run in the order in which they were measured."""

    figures: list[BenchFigure] = field(default_factory=list)
    gaps: list[BenchGap] = field(default_factory=list)
    growth: list[BenchGrowth] = field(default_factory=list)
    imports: list[BenchImports] = field(default_factory=list)

    def add_figure(
        self,
        name: str,
        unit: str,
        sample: Sample,
        *,
        against: Yardstick | None = None,
        budget: Budget | None = None,
        chunks: int | None = None,
    ) -> None:
        """Add a figure, or a failure when the sample has no values."""
        if sample.fault is not None or not sample.values:
            self.add_failure(name, sample.fault or "no reading")
            return
        center = median(sample.values)
        ratio = _compute_ratio(center, against)
        measured = ratio if budget and budget.of_ratio else center
        share = budget.compute_share(measured) if budget and measured is not None else None
        self.figures.append(
            BenchFigure(
                name=name,
                unit=unit,
                minimum=min(sample.values),
                median=center,
                maximum=max(sample.values),
                runs=len(sample.values),
                yardstick=against.name if against else None,
                ratio=ratio,
                budget=str(budget) if budget else None,
                within=None if share is None else share <= 1,
                share=share,
                spread=_compute_spread(sample.values),
                chunks=chunks,
            )
        )

    def add_skipped(self, name: str, reason: str) -> None:
        """Record what was left out on purpose."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=False))

    def add_failure(self, name: str, reason: str) -> None:
        """Record what should have run and did not."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=True))


def _compute_spread(values: list[float]) -> float:
    """Return the range of the middle half."""
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread
        return 0.0
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return upper - lower


def _compute_ratio(value: float, against: Yardstick | None) -> float | None:
    if against is None or not against.sample.values:
        return None
    divisor = median(against.sample.values)
    return value / divisor if divisor > 0 else None
