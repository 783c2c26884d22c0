"""Benchmarks: figures with their yardstick, measured in one run."""

import msgspec
from msgspec import Struct

from kebab.wire.record import Reply


class BenchFigure(Struct, frozen=True, kw_only=True):
    """One figure; the same name may stand once for each size of the corpus."""

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
    spread: float = 0.0
    """Between the quarter of the runs that was quickest and the one that was slowest."""
    chunks: int | None = None
    """At which size of the corpus it was measured; null when that is the one of the report."""


class BenchGrowth(Struct, frozen=True, kw_only=True):
    """How one figure grows with the corpus."""

    name: str
    """Which figure."""
    unit: str
    """In what."""
    chunks: list[int]
    """The sizes, smallest first."""
    medians: list[float]
    """The figure at each size."""
    factor: float
    """The figure at the largest size over that at the smallest."""
    chunks_factor: float
    """The largest size over the smallest."""
    budget: str | None = None
    """What the factor should be."""
    within: bool | None = None
    """Whether it is."""


class BenchModule(Struct, frozen=True, kw_only=True):
    """One module that a command imports."""

    name: str
    """Its name."""
    milliseconds: float
    """How long it took by itself, what it imports left out."""


class BenchImports(Struct, frozen=True, kw_only=True):
    """What one command imports, as the interpreter itself tells."""

    command: str
    """The command line."""
    modules: int
    """How many modules."""
    milliseconds: float
    """How long all of them took; telling slows them down."""
    heaviest: list[BenchModule]
    """Those that took longest, the slowest first."""


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
    growth: list[BenchGrowth] = msgspec.field(default_factory=list)
    """How figures grow from the smallest corpus to the largest."""
    imports: list[BenchImports] = msgspec.field(default_factory=list)
    """What each command imports."""
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
