"""Runs commands in a knowledge base of their own, measures them in turns, and judges the figures.

The system counts the memory of the parent as part of the peak memory of a new process, so the
benchmark itself must not import anything large.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeAlias

import kebab
from kebab.wire.evals import BenchFigure, BenchGap, BenchGrowth, BenchImports

Command: TypeAlias = Sequence[str]

PROGRAM = "from kebab.cli.main import run; run()"
"""The program text of the console script."""

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_SHOWN_ERROR = 300
_DROPPED = ("KEBAB_", "XDG_", "_KEBAB", "COV_", "COVERAGE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one process. `peak_bytes` is the most memory that it held at once.

    `cpu_seconds` is the processor time of the process and of those that it has waited for.
    """

    status: int
    seconds: float
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    out: bytes = b""
    err: bytes = b""

    def describe_failure(self) -> str | None:
        """Return why the process failed, or None when it succeeded."""
        if self.status == 0:
            return None
        text = self.err.decode(errors="replace").strip()[-_SHOWN_ERROR:]
        return f"exit status {self.status}: {text}" if text else f"exit status {self.status}"

    def parse_reply(self) -> dict[str, Any]:
        """Return the JSON object on stdout, or an empty one when there is none."""
        try:
            reply = json.loads(self.out)
        except ValueError:
            return {}
        return reply if isinstance(reply, dict) else {}


Runner: TypeAlias = Callable[[Command, Mapping[str, str], Path], Outcome]
"""Runs a command in a folder with exactly this environment."""


def run_process(command: Command, environment: Mapping[str, str], folder: Path) -> Outcome:
    """Run a command to its end; its output goes into files, so the process never blocks."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, or `cp`
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
        )
        with ExitStack() as undo:
            undo.callback(process.wait)
            undo.callback(process.kill)
            _, status, usage = os.wait4(process.pid, 0)
            undo.pop_all()
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Outcome(
            status=process.returncode,
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * _RSS_UNIT,
            out=out.read(),
            err=err.read(),
        )


def build_python_command(program: str, *arguments: str) -> Command:
    """Return the command that runs a program text in this interpreter."""
    return (sys.executable, "-c", program, *arguments)


def build_module_command(name: str, *arguments: str) -> Command:
    """Return the command that runs a module in this interpreter."""
    return (sys.executable, "-m", name, *arguments)


def build_kebab_command(*arguments: str) -> Command:
    """Return the command that runs kebab as its console script does."""
    return build_python_command(PROGRAM, *arguments)


class Sandbox:
    """A knowledge base in a folder of its own; its processes ignore the settings of the user."""

    def __init__(self, folder: Path, models: Path, runner: Runner = run_process) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._runner = runner
        self.environment: Mapping[str, str] = _build_environment(os.environ, folder, models)
        folder.mkdir(parents=True, exist_ok=True)

    def with_variables(self, variables: Mapping[str, str]) -> "Sandbox":
        """Return the same knowledge base with further environment variables."""
        other = copy(self)
        other.environment = {**self.environment, **variables}
        return other

    def run(self, command: Command) -> Outcome:
        """Run a command to its end."""
        return self._runner(command, self.environment, self.folder)

    def count_disk_bytes(self) -> int:
        """Return the disk space of the knowledge base."""
        files = (path for path in self.data.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files)


def _build_environment(outer: Mapping[str, str], folder: Path, models: Path) -> dict[str, str]:
    """Return the environment without settings and with a home inside the folder."""
    environment = {name: value for name, value in outer.items() if not name.startswith(_DROPPED)}
    environment |= {
        "HOME": str(folder / "home"),
        "KEBAB_DATA_DIR": str(folder / "data"),
        "KEBAB_MODELS_DIR": str(models),
        "KEBAB_DAEMON_AUTO": "false",  # a measured process does its own work
        "KEBAB_OFFLINE": "true",  # the time to download a model is not measured
        "ORT_DISABLE_TELEMETRY": "1",  # also where onnxruntime runs without kebab
    }
    root = str(Path(kebab.__file__).parents[1])
    if root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        # A process in another folder has to import this copy of kebab.
        path = filter(None, (root, outer.get("PYTHONPATH", "")))
        environment["PYTHONPATH"] = os.pathsep.join(path)
    if sys.dont_write_bytecode:
        # Bytecode is cached as by an installed program; all sandboxes of a run share one cache.
        environment["PYTHONDONTWRITEBYTECODE"] = ""
        environment["PYTHONPYCACHEPREFIX"] = str(folder.parent / "bytecode")
    return environment


@dataclass(slots=True)
class Sample:
    """The measured values of one candidate, or the reason why there are none."""

    values: list[float] = field(default_factory=list)
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A command to measure. `build_command` takes the number of the turn; turn 0 is a warm-up.

    `find_fault` returns why a run does not count: a command that fails fast is not a fast command.
    """

    name: str
    build_command: Callable[[int], Command]
    find_fault: Callable[[Outcome], str | None] = Outcome.describe_failure
    read_value: Callable[[Outcome], float] = attrgetter("seconds")


def build_repeated_candidate(name: str, command: Command) -> Candidate:
    """Return a candidate that runs the same command in every turn."""
    return Candidate(name=name, build_command=lambda _: command)


def run_interleaved(
    candidates: Sequence[Candidate],
    turns: int,
    run: Callable[[Command], Outcome],
    report_turn: Callable[[int, int], None],
) -> dict[str, Sample]:
    """Return the values of each candidate by name; a candidate that fails does not run again.

    Every other turn runs in reverse order. A process can slow down or speed up the next one, for
    example by warming the processor, and this must not always affect the same candidate.
    """
    samples = {candidate.name: Sample() for candidate in candidates}
    for turn in range(turns + 1):
        report_turn(turn, turns)
        for one in candidates if turn % 2 else reversed(candidates):
            sample = samples[one.name]
            if sample.fault is not None:
                continue
            outcome = run(one.build_command(turn))
            sample.fault = one.find_fault(outcome)
            if sample.fault is not None:
                sample.values.clear()
            elif turn > 0:
                sample.values.append(one.read_value(outcome))
    return samples


TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound on a median, or on a ratio: `unit` is the unit of the figure, or `TIMES`."""

    limit: float
    unit: str
    at_least: bool = False

    @property
    def of_ratio(self) -> bool:
        """Whether the bound applies to the ratio and not to the figure itself."""
        return self.unit == TIMES

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"

    def compute_share(self, value: float) -> float:
        """Return how much of the budget a value uses; more than 1 exceeds it."""
        if self.at_least:
            return self.limit / value if value > 0 else float("inf")
        return value / self.limit


def limit_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be higher."""
    return Budget(limit, TIMES)


def require_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be lower."""
    return Budget(limit, TIMES, at_least=True)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The measured values that a figure is compared with."""

    name: str
    sample: Sample


@dataclass(slots=True)
class Results:
    """The figures of a run in the order in which they were measured."""

    figures: list[BenchFigure] = field(default_factory=list)
    gaps: list[BenchGap] = field(default_factory=list)
    growth: list[BenchGrowth] = field(default_factory=list)
    imports: list[BenchImports] = field(default_factory=list)

    def add_figure(
        self,
        name: str,
        unit: str,
        sample: Sample,
        *,
        against: Yardstick | None = None,
        budget: Budget | None = None,
        chunks: int | None = None,
    ) -> None:
        """Add a figure, or a failure when the sample has no values."""
        if sample.fault is not None or not sample.values:
            self.add_failure(name, sample.fault or "no reading")
            return
        center = median(sample.values)
        divisor = median(against.sample.values) if against and against.sample.values else 0.0
        ratio = center / divisor if divisor > 0 else None
        measured = ratio if budget and budget.of_ratio else center
        share = budget.compute_share(measured) if budget and measured is not None else None
        spread = 0.0
        if len(sample.values) > 1:
            lower, _, upper = quantiles(sample.values, n=4, method="inclusive")
            spread = upper - lower
        self.figures.append(
            BenchFigure(
                name=name,
                unit=unit,
                minimum=min(sample.values),
                median=center,
                maximum=max(sample.values),
                runs=len(sample.values),
                yardstick=against.name if against else None,
                ratio=ratio,
                budget=str(budget) if budget else None,
                within=None if share is None else share <= 1,
                share=share,
                spread=spread,
                chunks=chunks,
            )
        )

    def add_skipped(self, name: str, reason: str) -> None:
        """Record what was left out on purpose."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=False))

    def add_failure(self, name: str, reason: str) -> None:
        """Record what should have run and did not."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=True))
