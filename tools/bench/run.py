"""Runs the benchmarks of `kebab bench` and those for developers, and prints one report."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from kebab.app.conversions import format_timestamp
from kebab.bench.run import MEASUREMENTS, BenchOptions, Measurement, run_benchmark
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.picture import draw_terminal
from kebab.config.load import load_settings
from kebab.config.settings import resolve_paths
from kebab.wire.evals import BenchProgress
from kebab.wire.record import add_envelope, encode_json
from tools.bench.embedding import measure_embedding
from tools.bench.growth import measure_growth
from tools.bench.imports import measure_imports
from tools.bench.ingest import measure_edit, measure_files
from tools.bench.render import draw_report
from tools.bench.synthetic_index import parse_sizes

_DEFAULTS = BenchOptions()
_FILES = 12_000
_SIZES = "1k,10k"


def build_measurements(sizes: tuple[int, ...], files: int) -> Mapping[str, Measurement]:
    """Return all measurements by name, in the order in which they run."""
    return {
        **MEASUREMENTS,
        "edit": measure_edit,
        "files": partial(measure_files, files=files),
        "embedding": measure_embedding,
        "growth": partial(measure_growth, sizes=sizes),
        "imports": measure_imports,
    }


def main(arguments: list[str], models: Path | None = None) -> int:
    """Print the report; return 1 when something could not run."""
    chosen = _build_parser().parse_args(arguments)
    options = BenchOptions(
        chunks=chosen.chunks, seed=chosen.seed, runs=chosen.runs, only=tuple(chosen.only)
    )
    report = run_benchmark(
        options,
        models or resolve_paths(load_settings(None)).models,
        ProgressPrinter(),
        measurements=build_measurements(chosen.sizes, chosen.files),
    )
    if chosen.svg:
        command = " ".join(["python -m tools.bench", *arguments])
        picture = draw_terminal(command, draw_report(report, Canvas(width=100, color=True)))
        chosen.svg.write_text(picture, encoding="utf-8")
    status = int(any(gap.failed for gap in report.gaps))
    if chosen.json:
        now = format_timestamp(time.time())
        reply = add_envelope(report, command="bench", timestamp=now, exit_code=status)
        sys.stdout.write(encode_json(reply).decode() + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in draw_report(report, Canvas()))
    return status


class ProgressPrinter:
    """Prints one line on stderr for each measurement."""

    def __init__(self) -> None:
        self._name = ""

    def __call__(self, event: BenchProgress) -> None:
        """Print an event, unless it repeats the name of the one before."""
        if event.name != self._name:
            self._name = event.name
            sys.stderr.write(f"{event.name}, {event.elapsed_ms / 1000:.0f} s\n")
            sys.stderr.flush()


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench",
        description="Measure speed and size, growth, edits, many files and imports.",
    )
    add = parser.add_argument
    names = list(build_measurements((), 0))
    add("--sizes", type=_parse_sizes, default=_SIZES, help="chunks of growth, such as 1k,10k")
    add("--files", type=_parse_count(10), default=_FILES, help="files to index without vectors")
    add("--chunks", type=_parse_count(10), default=_DEFAULTS.chunks, help="chunks to embed")
    add("--runs", type=_parse_count(1), default=_DEFAULTS.runs, help="repetitions of short runs")
    add("--seed", type=int, default=_DEFAULTS.seed, help="seed of the generated notes")
    add("--only", action="append", choices=names, default=[], help="one measurement (repeatable)")
    add("--json", action="store_true", help="print bench_report.v1")
    add("--svg", type=Path, metavar="FILE", help="draw the report into this file")
    return parser


def _parse_sizes(text: str) -> tuple[int, ...]:
    try:
        return parse_sizes(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list such as 1k,10k") from None


def _parse_count(least: int) -> Callable[[str], int]:
    """Return the parser of a number that must not be smaller than `least`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least {least}")
        return int(text)

    return parse
