"""How time, memory and disk grow with the corpus: the same figures on several sizes of it.

The vectors are synthetic, for a model would take hours on the large sizes; questions are embedded
by the real model when it is installed.
"""

from collections import defaultdict

from kebab.bench import asking, upkeep, yardsticks
from kebab.bench.budget import TIMES, Budget
from kebab.bench.grown import Grown, grow
from kebab.bench.ledger import Yardstick
from kebab.bench.race import Sample
from kebab.bench.rig import NO_MODEL, Rig
from kebab.wire.bench import BenchFigure, BenchGrowth

_MB, _KB = 1_000_000, 1_000
_MEMORY = Budget(600, "MB")
_DISK = Budget(10, "KB/chunk")
_SLOWER = Budget(8, TIMES)
_FATTER = Budget(1.1, TIMES)
_FACTORS = {
    "growth.lexical": _SLOWER,
    "growth.hybrid": _SLOWER,
    "growth.first_lexical": _SLOWER,
    "growth.first_hybrid": _SLOWER,
    "growth.warm_lexical": _SLOWER,
    "growth.warm_hybrid": _SLOWER,
    "growth.disk": _FATTER,
}
"""What a figure may grow by while the corpus becomes a hundred times as large."""


_HUNDREDFOLD = 110
"""A hundred times, as sizes are met about."""


def measure(rig: Rig) -> None:
    """Enter the figures of each size, then how they grow."""
    for chunks in rig.options.sizes:
        grown = grow(rig, chunks)
        if grown.fault is not None:
            rig.ledger.failed(f"growth.{chunks}", grown.fault)
            continue
        _taken_in(rig, grown)
        asking.measure(rig, grown)
        upkeep.measure(rig, grown)
    if rig.model() is None:
        rig.ledger.skipped("growth.hybrid", NO_MODEL)
    rig.ledger.growth += compare(rig.ledger.figures)


def _taken_in(rig: Rig, grown: Grown) -> None:
    """Enter what the run that made the knowledge base took."""
    copy = yardsticks.copy_files(grown.corpus.folder, grown.bed.folder / "copy")
    copies = rig.race("copy", grown.bed, [copy], 1)[yardsticks.COPY]
    seconds, add = grown.outcome.seconds, rig.ledger.add
    stick = Yardstick(yardsticks.COPY, copies)
    add("growth.ingest", "s", Sample([seconds]), against=stick, chunks=grown.chunks)
    rate = Sample([grown.chunks / seconds])
    add("growth.ingest_rate", "chunks/s", rate, chunks=grown.chunks)
    peak = Sample([grown.outcome.peak_bytes / _MB])
    add("growth.ingest_memory", "MB", peak, budget=_MEMORY, chunks=grown.chunks)
    each = Sample([grown.disk_bytes / _KB / max(1, grown.chunks)])
    add("growth.disk", "KB/chunk", each, budget=_DISK, chunks=grown.chunks)


def compare(figures: list[BenchFigure]) -> list[BenchGrowth]:
    """Return how every figure grows that was measured on several sizes."""
    by_name: defaultdict[str, list[BenchFigure]] = defaultdict(list)
    for one in figures:
        if one.chunks is not None:
            by_name[one.name].append(one)
    return [_growth(name, found) for name, found in by_name.items() if len(found) > 1]


def _growth(name: str, figures: list[BenchFigure]) -> BenchGrowth:
    ordered = sorted(figures, key=lambda one: one.chunks or 0)
    sizes = [one.chunks or 0 for one in ordered]
    medians = [one.median for one in ordered]
    factor = medians[-1] / max(medians[0], 1e-9)
    wider = sizes[-1] / max(1, sizes[0])
    budget = _FACTORS.get(name) if wider <= _HUNDREDFOLD or name == "growth.disk" else None
    return BenchGrowth(
        name=name,
        unit=ordered[0].unit,
        chunks=sizes,
        medians=medians,
        factor=factor,
        chunks_factor=wider,
        budget=str(budget) if budget else None,
        within=budget.share(factor) <= 1 if budget else None,
    )
