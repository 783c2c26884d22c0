"""One run of the benchmark: each measurement in turn, in a folder that goes afterwards."""

import os
import platform
import tempfile
from pathlib import Path

import kebab
from kebab.bench import edit, embedding, files, growth, imports, ingest, search, startup
from kebab.bench.pace import Pace, Tell
from kebab.bench.process import Runner, run_process
from kebab.bench.rig import BenchOptions, Rig
from kebab.wire.bench import BenchMachine, BenchReport

MEASUREMENTS = {
    "startup": startup.measure,
    "ingest": ingest.measure,
    "search": search.measure,
    "edit": edit.measure,
    "files": files.measure,
    "embedding": embedding.measure,
    "growth": growth.measure,
    "imports": imports.measure,
}
"""By name, in the order in which they run."""


def run(
    options: BenchOptions, models: Path, tell: Tell, runner: Runner = run_process
) -> BenchReport:
    """Measure and return the figures; the knowledge base of the person at work is not touched.

    `models` is where weights lie; nothing is fetched.
    """
    pace = Pace(tell)
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as folder, pace.ticking():
        rig = Rig(folder=Path(folder), models=models, options=options, pace=pace, runner=runner)
        for name, measure in MEASUREMENTS.items():
            if not options.only or name in options.only:
                measure(rig)
        pace.at("done", 1, 1)
    return BenchReport(
        chunks=rig.measured_chunks(),
        seed=options.seed,
        figures=rig.ledger.figures,
        growth=rig.ledger.growth,
        imports=rig.ledger.imports,
        gaps=rig.ledger.gaps,
        machine=machine(),
        duration_ms=pace.elapsed_ms(),
    )


def machine() -> BenchMachine:
    """Return what is known of this machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    return BenchMachine(
        system=f"{platform.system()} {platform.machine()}",
        cores=len(affinity(0)) if affinity else os.cpu_count() or 1,
        python=platform.python_version(),
        kebab_version=kebab.__version__,
    )
