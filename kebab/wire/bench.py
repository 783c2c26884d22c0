"""Benchmarks: figures with their yardstick, measured in one run."""

from msgspec import Struct

from kebab.wire.record import Reply


class BenchFigure(Struct, frozen=True, kw_only=True):
    """One figure."""

    name: str
    """What was measured."""
    unit: str
    """In what."""
    minimum: float
    """The smallest of all runs."""
    median: float
    """The middle."""
    maximum: float
    """The largest."""
    runs: int
    """How many runs."""
    yardstick: str | None
    """What it is compared with, measured in the same run."""
    ratio: float | None
    """Median over the yardstick's median."""
    budget: str | None
    """What it should be."""
    within: bool | None
    """Whether it is."""


class BenchReport(Reply, frozen=True, kw_only=True, tag="bench_report.v1"):
    """Figures of one run on one machine."""

    chunks: int
    """The size of the corpus that was measured."""
    seed: int
    """What the corpus was made from."""
    figures: list[BenchFigure]
    """Everything that was measured."""
