"""Benchmarks: figures with their yardstick, measured in one run."""

import msgspec
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
    share: float | None = None
    """How much of the budget is used; above 1 is over it."""


class BenchGap(Struct, frozen=True, kw_only=True):
    """Something that was not measured."""

    name: str
    """What."""
    reason: str
    """Why."""
    failed: bool
    """Whether it should have run; false when it was left out, for instance without a model."""


class BenchMachine(Struct, frozen=True, kw_only=True):
    """Where the figures come from; only ratios compare between machines."""

    system: str
    """Operating system and processor."""
    cores: int
    """How many processor cores kebab may use."""
    python: str
    """The version of Python."""
    kebab_version: str
    """This build."""


class BenchReport(Reply, frozen=True, kw_only=True, tag="bench_report.v1"):
    """Figures of one run on one machine."""

    chunks: int
    """The size of the corpus that was measured."""
    seed: int
    """What the corpus was made from."""
    figures: list[BenchFigure]
    """Everything that was measured."""
    gaps: list[BenchGap] = msgspec.field(default_factory=list)
    """What was not measured, and why."""
    machine: BenchMachine | None = None
    """Where it was measured."""
    duration_ms: int = 0
    """How long the whole run took."""


class BenchProgress(Reply, frozen=True, kw_only=True, tag="bench_progress.v1"):
    """What a run is measuring now; on stderr."""

    name: str
    """What is measured."""
    done: int
    """How many turns are over."""
    total: int
    """How many there are."""
    elapsed_ms: int
    """Since the run began."""
