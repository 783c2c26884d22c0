"""Collects figures, and what could not be measured with the reason."""

from dataclasses import dataclass, field
from statistics import median, quantiles

from kebab.bench.budget import Budget
from kebab.bench.race import Sample
from kebab.wire.bench import BenchFigure, BenchGap, BenchGrowth, BenchImports


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a figure is compared with."""

    name: str
    sample: Sample


@dataclass(slots=True)
class Ledger:
    """The figures of a run in the order in which they came."""

    figures: list[BenchFigure] = field(default_factory=list)
    gaps: list[BenchGap] = field(default_factory=list)
    growth: list[BenchGrowth] = field(default_factory=list)
    imports: list[BenchImports] = field(default_factory=list)

    def add(
        self,
        name: str,
        unit: str,
        sample: Sample,
        *,
        against: Yardstick | None = None,
        budget: Budget | None = None,
        chunks: int | None = None,
    ) -> None:
        """Enter a figure, or the fault that kept it from being one."""
        if sample.fault is not None or not sample.values:
            self.failed(name, sample.fault or "no reading")
            return
        middle = median(sample.values)
        quotient = _quotient(middle, against)
        judged = quotient if budget and budget.of_ratio else middle
        share = budget.share(judged) if budget and judged is not None else None
        self.figures.append(
            BenchFigure(
                name=name,
                unit=unit,
                minimum=min(sample.values),
                median=middle,
                maximum=max(sample.values),
                runs=len(sample.values),
                yardstick=against.name if against else None,
                ratio=quotient,
                budget=str(budget) if budget else None,
                within=None if share is None else share <= 1,
                share=share,
                spread=_spread(sample.values),
                chunks=chunks,
            )
        )

    def skipped(self, name: str, reason: str) -> None:
        """Note what was left out on purpose."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=False))

    def failed(self, name: str, reason: str) -> None:
        """Note what should have run and did not."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=True))


def _spread(values: list[float]) -> float:
    """Return the range of the middle half."""
    if len(values) < 2:  # noqa: PLR2004 - one reading has none
        return 0.0
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return upper - lower


def _quotient(middle: float, against: Yardstick | None) -> float | None:
    if against is None or not against.sample.values:
        return None
    divisor = median(against.sample.values)
    return middle / divisor if divisor > 0 else None
