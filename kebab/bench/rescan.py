"""How long it takes to find out that nothing changed, in as many files as there are chunks."""

from kebab.bench import yardsticks
from kebab.bench.budget import Budget
from kebab.bench.corpus import write_jottings
from kebab.bench.ledger import Yardstick
from kebab.bench.library import changed, index, ingest_command
from kebab.bench.race import Contestant
from kebab.bench.rig import Rig

_NOOP = Budget(1.5, "s")


def measure(rig: Rig) -> None:
    """Enter the figure of an ingest that finds every file as it was."""
    bed, options = rig.bed("rescan"), rig.options
    rig.pace.at("write short notes", 0, 1)
    corpus = write_jottings(bed.folder / "files", options.chunks, options.seed)
    rig.pace.at(f"ingest {corpus.files} short files", 0, 1)
    indexed = index(bed, corpus)
    if indexed.fault is not None:
        rig.ledger.failed("rescan", indexed.fault)
        return
    again = Contestant(
        name="noop",
        command=lambda _: ingest_command(corpus),
        fault=lambda outcome: changed(outcome, corpus),
    )
    looking = yardsticks.stat_files(corpus.folder)
    samples = rig.race("no-op ingest", bed, [looking, again], options.runs)
    stat = Yardstick(yardsticks.STAT, samples[yardsticks.STAT])
    rig.ledger.add("rescan.stat", "s", stat.sample)
    rig.ledger.add("rescan.noop", "s", samples["noop"], against=stat, budget=_NOOP)
