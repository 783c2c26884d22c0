"""Runs the measurements one after the other in a temporary folder, and reports progress."""

import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import kebab
from kebab.bench.context import BenchContext, BenchOptions
from kebab.bench.measurements import (
    measure_embedding,
    measure_ingest,
    measure_search,
    measure_startup,
)
from kebab.bench.sandbox import Runner, run_process
from kebab.bench.warm_calls import measure_warm_calls
from kebab.core.progress import Heartbeat
from kebab.wire.evals import BenchMachine, BenchProgress, BenchReport

Measurement: TypeAlias = Callable[[BenchContext], None]
SendProgress: TypeAlias = Callable[[BenchProgress], None]

MEASUREMENTS: Mapping[str, Measurement] = {
    "startup": measure_startup,
    "ingest": measure_ingest,
    "search": measure_search,
    "warm_call": measure_warm_calls,
    "embedding": measure_embedding,
}
"""The measurements of `kebab bench` by name, in the order in which they run."""

_REPEAT_S = 2.0


def run_benchmark(
    options: BenchOptions,
    models: Path,
    send: SendProgress,
    runner: Runner = run_process,
    measurements: Mapping[str, Measurement] | None = None,
) -> BenchReport:
    """Run the selected measurements and return their figures.

    The knowledge base of the user is not opened. `models` is the folder of the embedding models;
    nothing is downloaded.
    """
    progress = ProgressReporter(send)
    available = MEASUREMENTS if measurements is None else measurements
    with tempfile.TemporaryDirectory(prefix="kebab-bench-") as folder, progress.repeat():
        context = BenchContext(
            folder=Path(folder),
            models=models,
            options=options,
            report_progress=progress.report,
            runner=runner,
        )
        for name, measure in available.items():
            if not options.only or name in options.only:
                measure(context)
        progress.report("done", 1, 1)
    return BenchReport(
        chunks=context.count_chunks(),
        seed=options.seed,
        figures=context.results.figures,
        growth=context.results.growth,
        imports=context.results.imports,
        gaps=context.results.gaps,
        machine=describe_machine(),
        duration_ms=progress.get_elapsed_ms(),
    )


def describe_machine() -> BenchMachine:
    """Return the facts about this machine that figures depend on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return BenchMachine(
        system=f"{platform.system()} {platform.machine()}",
        cores=len(affinity(0)) if affinity else os.cpu_count() or 1,
        python=platform.python_version(),
        kebab_version=kebab.__version__,
    )


class ProgressReporter:
    """Sends the progress of one run, and repeats the last event during a long step."""

    def __init__(self, send: SendProgress, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()
        self._step: tuple[str, int, int] = ("start", 0, 1)

    def get_elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def report(self, name: str, done: int, total: int) -> None:
        """Send what is measured from now on."""
        with self._lock:
            self._step = (name, done, total)
        self._send_step()

    def repeat(self, interval_s: float = _REPEAT_S) -> Heartbeat:
        """Repeat the last event at intervals while the context is open."""
        return Heartbeat(self._send_step, interval_s)

    def _send_step(self) -> None:
        with self._lock:
            name, done, total = self._step
            elapsed = self.get_elapsed_ms()
            self._send(BenchProgress(name=name, done=done, total=total, elapsed_ms=elapsed))
