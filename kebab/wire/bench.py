"""Declares the reports of benchmarks as wire records."""

import msgspec
from msgspec import Struct

from kebab.wire.record import Reply


class BenchFigure(Struct, frozen=True, kw_only=True):
    """One measured figure; the same name may occur once for each size of the corpus."""

    name: str
    """The name of the figure."""
    unit: str
    """The unit of the values."""
    minimum: float
    """The smallest value of all runs."""
    median: float
    """The median of all runs."""
    maximum: float
    """The largest value of all runs."""
    runs: int
    """The number of runs."""
    yardstick: str | None
    """The name of the comparison figure, measured in the same run; null without one."""
    ratio: float | None
    """The median divided by the median of the comparison figure."""
    budget: str | None
    """The required value, as text; null without one."""
    within: bool | None
    """Whether the figure meets its budget."""
    share: float | None = None
    """The used part of the budget; above 1 it is exceeded."""
    spread: float = 0.0
    """The difference between the first and the third quartile of the runs."""
    chunks: int | None = None
    """The size of the corpus; null when it is the size that the report names."""


class BenchGrowth(Struct, frozen=True, kw_only=True):
    """How one figure changes with the size of the corpus."""

    name: str
    """The name of the figure."""
    unit: str
    """The unit of the values."""
    chunks: list[int]
    """The sizes of the corpus, smallest first."""
    medians: list[float]
    """The median of the figure at each size."""
    factor: float
    """The figure at the largest size divided by the figure at the smallest."""
    chunks_factor: float
    """The largest size divided by the smallest."""
    budget: str | None = None
    """The required factor, as text; null without one."""
    within: bool | None = None
    """Whether the factor meets its budget."""


class BenchModule(Struct, frozen=True, kw_only=True):
    """One module that a command imports."""

    name: str
    """The name of the module."""
    milliseconds: float
    """The time of its own import, without the modules that it imports."""


class BenchImports(Struct, frozen=True, kw_only=True):
    """The modules that one command imports, as the interpreter reports them."""

    command: str
    """The command line."""
    modules: int
    """The number of modules."""
    milliseconds: float
    """The time of all imports; the measurement itself slows them down."""
    heaviest: list[BenchModule]
    """The slowest modules, the slowest first."""


class BenchGap(Struct, frozen=True, kw_only=True):
    """A figure that was not measured."""

    name: str
    """The name of the figure."""
    reason: str
    """The reason why it was not measured."""
    failed: bool
    """Whether the measurement failed; false when it was skipped, for example without a model."""


class BenchMachine(Struct, frozen=True, kw_only=True):
    """The machine of the run; only ratios can be compared between machines."""

    system: str
    """The operating system and the processor."""
    cores: int
    """The number of processor cores that kebab may use."""
    python: str
    """The version of Python."""
    kebab_version: str
    """The version of kebab."""


class BenchReport(Reply, frozen=True, kw_only=True, tag="bench_report.v1"):
    """The figures of one run on one machine."""

    chunks: int
    """The size of the measured corpus."""
    seed: int
    """The seed that the corpus was generated with."""
    figures: list[BenchFigure]
    """Every figure."""
    growth: list[BenchGrowth] = msgspec.field(default_factory=list)
    """How figures change from the smallest corpus to the largest."""
    imports: list[BenchImports] = msgspec.field(default_factory=list)
    """The modules that each command imports."""
    gaps: list[BenchGap] = msgspec.field(default_factory=list)
    """The figures that were not measured, with the reasons."""
    machine: BenchMachine | None = None
    """The machine of the run."""
    duration_ms: int = 0
    """The duration of the whole run."""


class BenchProgress(Reply, frozen=True, kw_only=True, tag="bench_progress.v1"):
    """The figure that a run is measuring now; written to stderr."""

    name: str
    """The name of the figure."""
    done: int
    """The number of finished runs."""
    total: int
    """The number of all runs."""
    elapsed_ms: int
    """The time since the run began."""
