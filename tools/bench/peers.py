"""Times kebab beside other programs on one folder of real files, and writes the table of the docs.

The programs are qmd, ripgrep, tantivy and SQLite FTS5 alone; those that are not installed are left
out. They run in turns, each in an empty home of its own, so that a slow minute of the machine
affects all of them. A step is the same work for a person, and seldom the same for the programs:
qmd stores whole files, tantivy and SQLite the words of whole files, ripgrep nothing.
"""

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from kebab import __version__
from kebab.platform import count_cores
from tools.bench.sandbox import Command, Outcome, build_environment, measure_disk, run_process

KEBAB, QMD, RIPGREP, TANTIVY, FTS = "kebab", "qmd", "ripgrep", "tantivy", "SQLite FTS5"
INDEX, UNCHANGED, MOVED = "first index by words", "nothing changed", "folder renamed"
SEARCH, GREP = "search by words, new process", "lines with a text, new process"
STEPS = (INDEX, UNCHANGED, SEARCH, GREP, MOVED)
_PAGE = Path(__file__).parents[2] / "docs" / "notes" / "speed.md"
_TABLE = re.compile(r"(<!-- table of tools.bench.peers -->\n).*?(<!-- end -->\n)", re.DOTALL)
_MB = 1_000_000
_NOTHING_FOUND = 1
"""The status of a search without a result."""

WRITE_FTS = """
import os, sys, apsw
base = apsw.Connection(sys.argv[2])
base.execute("CREATE VIRTUAL TABLE pages USING fts5(body)")
with base:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            base.execute("INSERT INTO pages VALUES (?)", (text,))
"""
SEARCH_FTS = """
import sys, apsw
base = apsw.Connection(sys.argv[2])
words = " OR ".join(sys.argv[1].split())
found = base.execute("SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 10", (words,))
print(len(found.fetchall()))
"""
WRITE_TANTIVY = """
import os, sys, tantivy
schema = tantivy.SchemaBuilder().add_text_field("body", stored=True).build()
os.mkdir(sys.argv[2])
writer = tantivy.Index(schema, sys.argv[2]).writer(heap_size=128_000_000)
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        writer.add_document(tantivy.Document(body=text))
writer.commit()
writer.wait_merging_threads()
"""
SEARCH_TANTIVY = """
import sys, tantivy
index = tantivy.Index.open(sys.argv[2])
print(len(index.searcher().search(index.parse_query(sys.argv[1], ["body"]), 10).hits))
"""


def build_python_command(program: str, *arguments: str) -> Command:
    """Return the command that runs a program text in this interpreter."""
    return (sys.executable, "-c", program, *arguments)


def build_kebab_command(*arguments: str) -> Command:
    """Return the command that runs kebab of this checkout."""
    return (sys.executable, "-m", "kebab", *arguments)


Programs: TypeAlias = Mapping[str, Mapping[str, Sequence[Command]]]
"""The commands of each step of each program."""


class Figures(NamedTuple):
    """The median seconds of a step by the clock and of all processors, and its peak of memory."""

    wall: float
    cpu: float
    peak_bytes: float


class Results(NamedTuple):
    """The figures of each step of each program, and what each index takes on the disk in bytes."""

    steps: dict[tuple[str, str], Figures]
    disk: dict[str, float]


class PeerError(Exception):
    """A program failed."""


def list_programs(folder: Path, words: str, tools: Mapping[str, str | None]) -> Programs:
    """Return the commands of the programs that are installed; `tools` has the paths of two."""
    text = words.split(maxsplit=1)[0]
    where = str(folder)
    programs: dict[str, dict[str, Sequence[Command]]] = {
        KEBAB: {
            INDEX: [build_kebab_command("ingest", where)],
            UNCHANGED: [build_kebab_command("ingest", where)],
            SEARCH: [build_kebab_command("search", words, "--mode", "lexical")],
            GREP: [build_kebab_command("grep", text)],
            MOVED: [build_kebab_command("ingest", where)],
        },
        FTS: {
            INDEX: [build_python_command(WRITE_FTS, where, "words.db")],
            SEARCH: [build_python_command(SEARCH_FTS, words, "words.db")],
        },
    }
    qmd, ripgrep = tools.get(QMD), tools.get(RIPGREP)
    if qmd:
        mask = "**/*.{md,mdx,markdown,rst,txt}"
        adding = (qmd, "collection", "add", where, "--name", "notes", "--mask", mask)
        programs[QMD] = {
            INDEX: [adding],
            UNCHANGED: [(qmd, "update")],
            SEARCH: [(qmd, "search", words)],
            MOVED: [(qmd, "update")],
        }
    if ripgrep:
        programs[RIPGREP] = {GREP: [(ripgrep, "--line-number", "--ignore-case", text, where)]}
    if find_spec("tantivy") is not None:
        programs[TANTIVY] = {
            INDEX: [build_python_command(WRITE_TANTIVY, where, "words")],
            SEARCH: [build_python_command(SEARCH_TANTIVY, words, "words")],
        }
    return programs


def measure_programs(programs: Programs, folder: Path, turns: int) -> Results:
    """Return the medians of the turns; one more turn at the beginning is a warm-up.

    Before the step that is called so, the largest folder below `folder` gets another name.

    Raises:
        PeerError: A command failed.
    """
    found: defaultdict[tuple[str, str], list[Figures]] = defaultdict(list)
    disk: defaultdict[str, list[float]] = defaultdict(list)
    for turn in range(turns + 1):
        for name in programs if turn % 2 else reversed(list(programs)):
            with tempfile.TemporaryDirectory() as home:
                place = Path(home)
                for step in STEPS:
                    commands = programs[name].get(step, ())
                    if step == MOVED and commands:
                        _rename_largest(folder, turn)
                    figures = [_run(name, step, command, place) for command in commands]
                    if turn and figures:
                        wall, cpu, peak = zip(*figures, strict=True)
                        found[name, step].append(Figures(sum(wall), sum(cpu), max(peak)))
                    if turn and commands and step == INDEX:
                        disk[name].append(measure_disk(place))
    medians = {key: Figures(*map(median, zip(*one, strict=True))) for key, one in found.items()}
    return Results(medians, {name: median(sizes) for name, sizes in disk.items()})


def _run(name: str, step: str, command: Command, home: Path) -> Figures:
    outcome: Outcome = run_process(command, build_environment(home, home / "models"), home)
    is_search = step in (SEARCH, GREP)
    if outcome.status and not (is_search and outcome.status == _NOTHING_FOUND):
        raise PeerError(f"{name}, {step}: {outcome.describe_failure()}")
    return Figures(outcome.wall, outcome.cpu, outcome.peak_bytes)


def _rename_largest(folder: Path, turn: int) -> None:
    """Give the folder with the most files another name, which no program has seen."""
    subfolders = [path for path in folder.iterdir() if path.is_dir()]
    if subfolders:
        largest = max(subfolders, key=lambda path: sum(1 for _ in path.rglob("*")))
        name = re.sub(r"-moved-.*", "", largest.name)
        largest.rename(largest.with_name(f"{name}-moved-{turn}-{os.urandom(3).hex()}"))


def format_table(results: Results, names: Sequence[str], size: int) -> list[str]:
    """Return the table in Markdown: wall and processor seconds, memory, and disk for each MB."""
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for step in STEPS:
        cells = []
        for name in names:
            figures = results.steps.get((name, step))
            cells.append("–" if figures is None else f"{figures.wall:.2f} / {figures.cpu:.2f} s")
        lines.append(f"| {step} | {' | '.join(cells)} |")
    peaks = [results.steps.get((name, INDEX)) for name in names]
    memory = ["–" if one is None else f"{one.peak_bytes / _MB:.0f} MB" for one in peaks]
    lines.append(f"| memory of the largest process of the first index | {' | '.join(memory)} |")
    disk = [
        f"{results.disk[name] / size:.1f} MB" if name in results.disk else "–" for name in names
    ]
    lines.append(f"| disk for each MB of text | {' | '.join(disk)} |")
    return lines


def describe_run(folder: Path, size: int, turns: int, names: Sequence[str]) -> str:
    """Return what was measured, where and when."""
    files = sum(1 for path in folder.rglob("*") if path.is_file())
    python = f"Python {platform.python_version()}"
    tantivy = f", tantivy {_find_version('tantivy')}" if TANTIVY in names else ""
    return (
        f"{files:,} real files, {size / _MB:.1f} MB; kebab {__version__}, {python}{tantivy}, "
        f"{platform.system()} on {platform.machine()}, {count_cores()} cores, "
        f"load {os.getloadavg()[0]:.1f}, {datetime.now(UTC):%Y-%m-%d}; medians of {turns} turns, "
        "seconds by the clock and of all processors."
    )


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def main(arguments: Sequence[str], page: Path = _PAGE) -> int:
    """Print the table, or write it into the page; return 1 when a program failed."""
    chosen = _build_parser().parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        # The files are copied, because a folder of them gets other names.
        folder = Path(place) / "notes"
        shutil.copytree(chosen.folder, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        tools = {QMD: chosen.qmd, RIPGREP: chosen.ripgrep}
        programs = list_programs(folder, chosen.words, tools)
        names = [name for name in (KEBAB, QMD, RIPGREP, TANTIVY, FTS) if name in programs]
        try:
            results = measure_programs(programs, folder, chosen.turns)
        except PeerError as fault:
            sys.stderr.write(f"{fault}\n")
            return 1
        lines = [*format_table(results, names, size), ""]
        text = "\n".join((describe_run(folder, size, chosen.turns, names), "", *lines))
    if chosen.write:
        whole = page.read_text("utf-8")
        page.write_text(_TABLE.sub(lambda found: found[1] + text + found[2], whole), "utf-8")
    sys.stdout.write(text)
    return 0


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.peers",
        description="Time kebab beside qmd, ripgrep, tantivy and SQLite FTS5 on a folder.",
    )
    parser.add_argument("folder", type=Path, help="UTF-8 files; they are copied")
    parser.add_argument("--words", default="handle errors", help="what is searched for")
    parser.add_argument("--turns", type=int, default=3, help="how often each program runs")
    parser.add_argument("--qmd", default=shutil.which("qmd"), help="the program qmd")
    parser.add_argument("--ripgrep", default=shutil.which("rg"), help="the program rg")
    parser.add_argument(
        "--write", action="store_true", help="write the table to docs/notes/speed.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
