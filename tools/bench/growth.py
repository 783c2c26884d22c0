"""Measures how time, memory and disk space grow with the size of the corpus.

The vectors of the corpus are synthetic, because a model would take hours on the large sizes. The
installed model embeds the questions.
"""

from collections import defaultdict

from kebab.bench.run import COPY, NO_MODEL, BenchContext, build_copy_candidate
from kebab.bench.sandbox import (
    TIMES,
    Budget,
    Candidate,
    Outcome,
    Sample,
    Yardstick,
    build_kebab_command,
    build_repeated_candidate,
)
from kebab.wire.evals import BenchFigure, BenchGrowth
from tools.bench.ingest import build_unchanged_ingest
from tools.bench.latency import measure_latency
from tools.bench.synthetic_index import SyntheticIndex, build_synthetic_index
from tools.bench.yardsticks import STAT, stat_files

_MB, _KB = 1_000_000, 1_000
_MEMORY = Budget(600, "MB")
_DISK = Budget(10, "KB/chunk")
_TIME_GROWTH = Budget(8, TIMES)
_DISK_GROWTH = Budget(1.1, TIMES)
_GROWTH_BUDGETS = {
    "growth.lexical": _TIME_GROWTH,
    "growth.hybrid": _TIME_GROWTH,
    "growth.first_lexical": _TIME_GROWTH,
    "growth.first_hybrid": _TIME_GROWTH,
    "growth.warm_lexical": _TIME_GROWTH,
    "growth.warm_hybrid": _TIME_GROWTH,
    "growth.disk": _DISK_GROWTH,
}
"""The most that a figure may grow while the corpus becomes a hundred times as large."""
_HUNDREDFOLD = 110
"""A hundred times with a tolerance, because the sizes are approximate."""
_UPKEEP_TURNS = 3
_UNHEALTHY = 3


def measure_growth(context: BenchContext, sizes: tuple[int, ...]) -> None:
    """Add the figures of each size, then their growth."""
    for chunks in sizes:
        index = build_synthetic_index(context, chunks)
        if index.fault is not None:
            context.results.add_failure(f"growth.{chunks}", index.fault)
            continue
        _add_ingest(context, index)
        measure_latency(context, index)
        measure_upkeep(context, index)
    if context.find_model() is None:
        context.results.add_skipped("growth.hybrid", NO_MODEL)
    context.results.growth += compare_sizes(context.results.figures)


def _add_ingest(context: BenchContext, index: SyntheticIndex) -> None:
    """Add the figures of the run that built the index."""
    copy = build_copy_candidate(index.corpus.folder, index.sandbox.folder / "copy")
    copies = context.run_interleaved("copy", index.sandbox, [copy], 1)[COPY]
    add, seconds, chunks = context.results.add_figure, index.outcome.seconds, index.chunks
    add("growth.ingest", "s", Sample([seconds]), against=Yardstick(COPY, copies), chunks=chunks)
    add("growth.ingest_rate", "chunks/s", Sample([chunks / seconds]), chunks=chunks)
    peak = Sample([index.outcome.peak_bytes / _MB])
    add("growth.ingest_memory", "MB", peak, budget=_MEMORY, chunks=chunks)
    each = Sample([index.disk_bytes / _KB / max(1, chunks)])
    add("growth.disk", "KB/chunk", each, budget=_DISK, chunks=chunks)


def measure_upkeep(context: BenchContext, index: SyntheticIndex) -> None:
    """Add an ingest without changes, `schema`, `doctor` and `reset`; the index is then empty."""
    doctor = Candidate(
        name="doctor",
        build_command=lambda _: build_kebab_command("doctor", "--json"),
        find_fault=_find_doctor_fault,
    )
    candidates = [
        stat_files(index.corpus.folder),
        build_unchanged_ingest(index.corpus),
        build_repeated_candidate("schema", build_kebab_command("schema", "--json")),
        doctor,
    ]
    turns = min(_UPKEEP_TURNS, context.options.runs)
    samples = context.run_interleaved("upkeep", index.sandbox, candidates, turns)
    stat = Yardstick(STAT, samples[STAT])
    add, chunks = context.results.add_figure, index.chunks
    add("growth.noop", "s", samples["noop"], against=stat, chunks=chunks)
    add("growth.schema", "s", samples["schema"], chunks=chunks)
    add("growth.doctor", "s", samples["doctor"], chunks=chunks)
    outcome = index.sandbox.run(build_kebab_command("reset", "--yes", "--json"))
    reset = Sample([outcome.seconds], outcome.describe_failure())
    add("growth.reset", "s", reset, chunks=chunks)


def _find_doctor_fault(outcome: Outcome) -> str | None:
    """Return why a run of `doctor` does not count; one that finds a fault counts."""
    return None if outcome.status == _UNHEALTHY else outcome.describe_failure()


def compare_sizes(figures: list[BenchFigure]) -> list[BenchGrowth]:
    """Return the growth of every figure that was measured on several sizes."""
    by_name: defaultdict[str, list[BenchFigure]] = defaultdict(list)
    for one in figures:
        if one.chunks is not None:
            by_name[one.name].append(one)
    return [_build_growth(name, found) for name, found in by_name.items() if len(found) > 1]


def _build_growth(name: str, figures: list[BenchFigure]) -> BenchGrowth:
    ordered = sorted(figures, key=lambda one: one.chunks or 0)
    sizes = [one.chunks or 0 for one in ordered]
    medians = [one.median for one in ordered]
    factor = medians[-1] / max(medians[0], 1e-9)
    size_factor = sizes[-1] / max(1, sizes[0])
    judged = size_factor <= _HUNDREDFOLD or name == "growth.disk"
    budget = _GROWTH_BUDGETS.get(name) if judged else None
    return BenchGrowth(
        name=name,
        unit=ordered[0].unit,
        chunks=sizes,
        medians=medians,
        factor=factor,
        chunks_factor=size_factor,
        budget=str(budget) if budget else None,
        within=budget.compute_share(factor) <= 1 if budget else None,
    )
