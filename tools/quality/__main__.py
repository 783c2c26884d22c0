"""Reads the arguments of `python -m tools.quality`, and runs the part that they name."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from kebab.evals import MODES
from tools.quality.absence import measure_absence
from tools.quality.calibration import render_calibration
from tools.quality.code_sets import build_sets
from tools.quality.rankings import render_rankings
from tools.quality.sets import find_sets


def main(arguments: list[str]) -> int:
    """Print what a part measures; return 0."""
    chosen = _build_parser().parse_args(arguments)
    for line in chosen.run(chosen):
        print(line, flush=True)  # noqa: T201 - the output of the program
    return 0


def render_absence(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the table of every set."""
    for one in find_sets(chosen.sets):
        if not chosen.only or one.name in chosen.only:
            yield from measure_absence(one, chosen)


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.quality", description="Measure search.")
    parts = parser.add_subparsers(required=True)
    code = parts.add_parser("code", help="build sets of questions on the files of packages")
    code.set_defaults(run=lambda chosen: build_sets(chosen.packages, chosen.out, chosen.limit))
    code.add_argument("packages", type=Path, help="a folder with one folder for each package")
    code.add_argument("out", type=Path)
    code.add_argument("--limit", type=int, default=40, help="the most questions of a kind")
    for name, run, text in (
        ("sets", render_rankings, "measure rankings and confidence"),
        ("calibration", render_calibration, "fit the curves of confidence"),
        ("absence", render_absence, "count the refusals of questions without an answer"),
    ):
        part = parts.add_parser(name, help=text)
        part.set_defaults(run=run)
        add = part.add_argument
        add("sets", type=Path, help="a folder with evaluation sets")
        add("--bases", type=Path, required=True, help="a folder for the knowledge bases, kept")
        add("--model", default="all-minilm-l6-v2", help="the embedding model")
        add("--only", nargs="*", default=[], help="the names of some sets")
        add("--modes", nargs="*", choices=MODES, default=MODES, help="the channels searched")
        add("--every", type=int, default=1, help="ask every Nth question only")
        if name == "calibration":
            add("--cases", type=Path, required=True, help="the file of the collected cases")
            add("--lost", type=float, default=0.02, help="the found answers that may be weak")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
