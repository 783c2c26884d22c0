"""Times the first index by words of a folder beside SQLite FTS5 alone, and beside qmd if given.

Each run begins with an empty index and a home of its own. The programs run in turns, so that a slow
minute of the machine affects all of them.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from kebab.bench.sandbox import Command, Outcome, Runner, Sandbox, build_kebab_command, run_process
from tools.bench.yardsticks import FTS, index_words

KEBAB, QMD = "kebab ingest", "qmd"
_MB = 1_000_000

Program: TypeAlias = tuple[Command, ...]
"""The commands that one after another index a folder."""


class Figures(NamedTuple):
    """The median seconds of a program: by the clock, and of all processors together."""

    wall: float
    cpu: float


class IndexingError(Exception):
    """A program did not index the folder."""


def list_programs(folder: Path, qmd: str | None) -> dict[str, Program]:
    """Return the programs by name."""
    words = index_words(folder, Path("words")).build_command(0)
    programs: dict[str, Program] = {
        FTS: (words,),
        KEBAB: (build_kebab_command("ingest", str(folder)),),
    }
    if qmd is not None:
        adding = (qmd, "collection", "add", str(folder), "--name", "notes")
        programs[QMD] = (adding, (qmd, "update"))
    return programs


def measure_programs(
    programs: dict[str, Program], runs: int, runner: Runner = run_process
) -> dict[str, Figures]:
    """Return the figures of each program; the first turn is a warm-up that does not count.

    Raises:
        IndexingError: A command failed.
    """
    found: dict[str, list[Figures]] = {name: [] for name in programs}
    for turn in range(runs + 1):
        for name in programs if turn % 2 else reversed(programs):
            figures = _measure_once(name, programs[name], runner)
            if turn:
                found[name].append(figures)
    return {
        name: Figures(*map(median, zip(*figures, strict=True))) for name, figures in found.items()
    }


def _measure_once(name: str, program: Program, runner: Runner) -> Figures:
    with tempfile.TemporaryDirectory() as home:
        sandbox = Sandbox(Path(home), Path(home) / "models", runner)
        outcomes = [*_run_commands(name, program, sandbox.run)]
    return Figures(
        sum(outcome.seconds for outcome in outcomes),
        sum(outcome.cpu_seconds for outcome in outcomes),
    )


def _run_commands(
    name: str, program: Program, run: Callable[[Command], Outcome]
) -> Iterator[Outcome]:
    for command in program:
        outcome = run(command)
        fault = outcome.describe_failure()
        if fault is not None:
            raise IndexingError(f"{name}: {fault}")
        yield outcome


def format_table(figures: dict[str, Figures], size: int) -> list[str]:
    """Return one line for each program: seconds, and seconds for 60 MB of the same text."""
    share = 60 * _MB / size
    lines = [f"{'program':<20}{'wall s':>9}{'cpu s':>9}{'wall, 60 MB':>13}{'cpu, 60 MB':>13}"]
    for name, (wall, cpu) in figures.items():
        lines.append(f"{name:<20}{wall:>9.2f}{cpu:>9.2f}{wall * share:>13.1f}{cpu * share:>13.1f}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Print the figures; return 1 when a program failed."""
    chosen = _build_parser().parse_args(arguments)
    folder = chosen.folder.resolve()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    try:
        figures = measure_programs(list_programs(folder, chosen.qmd), chosen.runs)
    except IndexingError as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in format_table(figures, size))
    return 0


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.first_index",
        description="Time the first index by words of a folder of UTF-8 text files.",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="how often each program runs")
    parser.add_argument(
        "--qmd", default=shutil.which("qmd"), help="the program qmd, if not on PATH"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
