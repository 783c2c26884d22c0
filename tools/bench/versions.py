"""Compares two programs of kebab on one folder: each step in turns, as ratios of medians.

    python -m tools.bench.versions OLD/.venv/bin/kebab NEW/.venv/bin/kebab FOLDER

Every other turn runs in reverse order, so that a slow minute of the machine affects both. With
`--models FOLDER` vectors are computed and searched too.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tools.bench.sandbox import build_environment, measure_disk, run_process

_MB = 1_000_000
_QUERY = "how to configure the storage of a cluster"
_EDITED = "\n\nA sentence about the colour of marmalade that nobody wrote before.\n"


class Step(NamedTuple):
    """A command that is measured; an edited note comes before it where `edits` says so."""

    name: str
    words: tuple[str, ...]
    repeats: int = 1
    edits: bool = False


def list_steps(folder: Path, query: str, *, vectors: bool) -> Iterator[Step]:
    """Yield the steps in the order in which they run."""
    yield Step("first index", ("ingest", str(folder)))
    yield Step("unchanged ingest", ("ingest", str(folder)), 3)
    yield Step("one note edited", ("ingest", str(folder)), edits=True)
    yield Step("cold words", ("search", query, "--mode", "lexical"), 7)
    if vectors:
        yield Step("cold both", ("search", query, "--mode", "hybrid"), 7)
    yield Step("extractive answer", ("ask", query, "--extractive"), 3)
    yield Step("help", ("--help",), 7)


def compare(
    programs: Sequence[str], folder: Path, models: Path, turns: int, query: str
) -> tuple[dict[tuple[str, str], list[tuple[float, float]]], dict[str, list[int]]]:
    """Return wall and processor seconds of each step and program, and the disk of each program.

    Raises:
        RuntimeError: A command failed.
    """
    found: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    disk: defaultdict[str, list[int]] = defaultdict(list)
    note = next(iter(sorted(folder.rglob("*.md"))))
    steps = [*list_steps(folder, query, vectors=models.is_dir())]
    for turn in range(turns):
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            homes = {program: Path(place) / str(number) for number, program in enumerate(programs)}
            for home in homes.values():
                home.mkdir()
            for step in steps:
                if step.edits:
                    note.write_text(note.read_text("utf-8") + _EDITED, "utf-8")
                for repeat in range(step.repeats):
                    for program in programs if (turn + repeat) % 2 else [*reversed(programs)]:
                        home = homes[program]
                        environment = build_environment(home, models)
                        ended = run_process((program, *step.words), environment, home)
                        if ended.status not in (0, 1):
                            raise RuntimeError(f"{program} {step}: {ended.describe_failure()}")
                        found[step.name, program].append((ended.wall, ended.cpu))
            for program, home in homes.items():
                disk[program].append(measure_disk(home / "data"))
    return found, disk


def main(arguments: Sequence[str]) -> int:
    """Print a table of the medians and their ratios."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.versions", description=__doc__)
    parser.add_argument("old", help="the program of the older checkout")
    parser.add_argument("new", help="the program of the newer one")
    parser.add_argument("folder", type=Path, help="notes; they are copied")
    parser.add_argument("--models", type=Path, default=Path("none"), help="installed weights")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--query", default=_QUERY)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place) / "notes"
        run_process(("cp", "-r", str(given.folder), str(folder)), {}, Path(place))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        programs = (given.old, given.new)
        models = given.models.absolute()
        found, disk = compare(programs, folder, models, given.turns, given.query)
    print("| step | old, wall / processor | new | ratio wall / processor |")  # noqa: T201
    print("|---|---|---|---|")  # noqa: T201
    for name in dict.fromkeys(name for name, _ in found):
        old, new = ([median(one) for one in zip(*found[name, p], strict=True)] for p in programs)
        print(  # noqa: T201
            f"| {name} | {old[0]:.3f} / {old[1]:.3f} s | {new[0]:.3f} / {new[1]:.3f} s"
            f" | {new[0] / old[0]:.2f} / {new[1] / old[1]:.2f} |"
        )
    cells = [f"{median(disk[program]) / size:.2f} MB" for program in programs]
    print(f"| disk for each MB of {size / _MB:.1f} | {cells[0]} | {cells[1]} | |")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
