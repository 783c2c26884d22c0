"""Changes the code at random places and reports the changes that no test notices.

    python -m tools.mutate --seed 1 --count 200 --json results.json

The sample takes from every package as many mutants as its share of the lines. Each mutant runs in
a copy of the checkout: first against the tests of its module, then against the unit tests of its
package, then against the golden, contract and port suites. Mutants that behave like the original
are listed in `mutants_equivalent.toml`, each with its reason.
"""

import argparse
import difflib
import importlib.util
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutation_points import Mutant, find_mutants

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = tuple(sorted(path.parent.name for path in (ROOT / "kebab").glob("*/__init__.py")))
SUITES = ("own", "package", "wide")
WIDE = ("tests/golden", "tests/contract", "tests/ports")
EQUIVALENTS = Path(__file__).with_name("mutants_equivalent.toml")
MAX_SECONDS = 900
IGNORED_FILES = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", ".hypothesis")
PYTEST = ("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider")


class BaselineError(Exception):
    """Raised when tests fail without a mutant."""


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a mutant."""

    mutant: Mutant
    outcome: str
    """`own`, `package` or `wide` by the tests that killed it; else `survived` or `equivalent`."""
    before: str
    after: str


def find_own_tests(file: str) -> list[str]:
    """Return the test files of a module, by the naming rule of `tests/shape/test_mirror.py`."""
    module = ROOT / file
    names = [path.stem for path in module.parent.glob("*.py")]
    folder = ROOT / "tests" / "unit" / module.parent.relative_to(ROOT / "kebab")
    found = []
    for path in sorted(folder.glob("test_*.py")):
        stem = path.stem.removeprefix("test_")
        owners = [name for name in names if stem == name or stem.startswith(f"{name}_")]
        if max(owners, key=len, default=None) == module.stem:
            found.append(str(path.relative_to(ROOT)))
    return found


def list_suites(file: str) -> dict[str, Sequence[str]]:
    """Return the suites that run against a mutant of a file, the nearest first."""
    found = {
        "own": find_own_tests(file),
        "package": [f"tests/unit/{Path(file).parts[1]}"],
        "wide": WIDE,
    }
    return {name: tests for name, tests in found.items() if tests}


class Workspace:
    """A copy of the checkout in which one mutant runs at a time."""

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        self._root = folder
        self._wanted = wanted
        self._baselines: dict[tuple[str, ...], float] = {}
        shutil.copytree(ROOT, folder, ignore=IGNORED_FILES)

    def judge(self, mutant: Mutant) -> str:
        """Return the first suite that notices a mutant, or `survived`."""
        for name, tests in list_suites(mutant.file).items():
            if name not in self._wanted:
                continue
            limit = self._get_limit(tuple(tests))
            with self._apply_mutant(mutant):
                if not self._run_tests(tests, limit):
                    return name
        return "survived"

    def _get_limit(self, tests: tuple[str, ...]) -> float:
        """Return the time limit of tests, which must pass without a mutant."""
        if tests not in self._baselines:
            started = time.monotonic()
            if not self._run_tests(tests, MAX_SECONDS):
                raise BaselineError(" ".join(tests))
            self._baselines[tests] = time.monotonic() - started
        return min(MAX_SECONDS, 60 + 5 * self._baselines[tests])

    @contextmanager
    def _apply_mutant(self, mutant: Mutant) -> "Iterator[None]":
        path = self._root / mutant.file
        # A mutant may have the size and the time of the original, so cached bytecode is deleted.
        compiled = Path(importlib.util.cache_from_source(str(path)))
        original = path.read_bytes()
        path.write_bytes(mutant.apply(original))
        compiled.unlink(missing_ok=True)
        try:
            yield
        finally:
            path.write_bytes(original)
            compiled.unlink(missing_ok=True)

    def _run_tests(self, tests: Sequence[str], limit: float) -> bool:
        process = subprocess.Popen(  # noqa: S603 - pytest, with arguments of our own
            [sys.executable, *PYTEST, *tests],
            cwd=self._root,
            env={**os.environ, "PYTHONPATH": str(self._root)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return process.wait(timeout=limit) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False


def find_changed_lines(mutant: Mutant) -> tuple[str, str]:
    """Return the lines that a mutant changes, before and after, without indentation."""
    source = (ROOT / mutant.file).read_bytes()
    start = source.rfind(b"\n", 0, mutant.start) + 1
    end = source.find(b"\n", mutant.end)
    before = source[start:end].decode()
    after = mutant.apply(source)[
        start : end + len(mutant.text.encode()) - (mutant.end - mutant.start)
    ]
    return _squeeze_blanks(before), _squeeze_blanks(after.decode())


def _squeeze_blanks(text: str) -> str:
    return " ".join(text.split())


def load_equivalents() -> set[tuple[str, str, str]]:
    """Return the mutants that behave like the original, as file and changed lines."""
    if not EQUIVALENTS.exists():
        return set()
    entries = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8")).get("mutant", [])
    assert all(entry["reason"] for entry in entries)
    return {(entry["file"], entry["before"], entry["after"]) for entry in entries}


def format_diff(mutant: Mutant) -> str:
    """Return a mutant as a diff."""
    before = (ROOT / mutant.file).read_bytes()
    old, new = (text.decode().splitlines() for text in (before, mutant.apply(before)))
    return "\n".join(difflib.unified_diff(old, new, mutant.file, mutant.file, n=1, lineterm=""))


def choose_mutants(options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants to run: a sample, or those that survived an earlier run."""
    mutants: dict[str, list[Mutant]] = {}
    lines: Counter[str] = Counter()
    for package in sorted(options.packages):
        mutants[package] = []
        for path in sorted((ROOT / "kebab" / package).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            if options.file in file:
                source = path.read_bytes()
                mutants[package] += find_mutants(file, source)
                lines[package] += source.count(b"\n")
    if options.again is None:
        return sample_mutants(mutants, lines, options.count, options.seed)
    kept = json.loads(options.again.read_text(encoding="utf-8"))
    wanted = {(one["before"], one["after"]) for one in kept if one["outcome"] == "survived"}
    every = [mutant for found in mutants.values() for mutant in found]
    return [mutant for mutant in every if find_changed_lines(mutant) in wanted]


def sample_mutants(
    mutants: Mapping[str, Sequence[Mutant]], lines: Mapping[str, int], count: int, seed: int
) -> list[Mutant]:
    """Return about `count` mutants, from each package in proportion to its lines, at least one.

    Args:
        mutants: The mutants of each package.
        lines: The lines of each package.
        count: How many to take in all.
        seed: The same seed gives the same sample.
    """
    generator = random.Random(seed)  # noqa: S311 - a sample, not a secret
    chosen: list[Mutant] = []
    for package, found in mutants.items():
        share = max(1, round(count * lines[package] / sum(lines.values()))) if found else 0
        chosen += generator.sample(found, min(share, len(found)))
    return chosen


def run_mutants(mutants: Sequence[Mutant], jobs: int, wanted: Sequence[str]) -> list[Result]:
    """Run every mutant that is not known to be equivalent."""
    equivalents = load_equivalents()
    idle: queue.Queue[Workspace] = queue.Queue()

    def run_mutant(mutant: Mutant) -> Result:
        before, after = find_changed_lines(mutant)
        if (mutant.file, before, after) in equivalents:
            return Result(mutant, "equivalent", before, after)
        workspace = idle.get()
        try:
            outcome = workspace.judge(mutant)
        finally:
            idle.put(workspace)
        print(f"{outcome:10} {mutant.file}:{mutant.line} {mutant.kind}: {after}", flush=True)  # noqa: T201 - the report
        return Result(mutant, outcome, before, after)

    with tempfile.TemporaryDirectory(prefix="kebab-mutants-") as folder:
        for number in range(jobs):
            idle.put(Workspace(Path(folder, str(number)), wanted))
        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(run_mutant, mutants))


def print_report(results: Sequence[Result]) -> int:
    """Print a table and the survivors; return how many there are."""
    outcomes = (*SUITES, "equivalent", "survived")
    counts = Counter((Path(one.mutant.file).parts[1], one.outcome) for one in results)
    print(f"\n{'package':10}" + "".join(f"{name:>12}" for name in ("mutants", *outcomes)))  # noqa: T201 - the report
    for package in sorted({package for package, _ in counts}):
        row = [counts[package, name] for name in outcomes]
        print(f"{package:10}" + "".join(f"{number:12}" for number in (sum(row), *row)))  # noqa: T201 - the report
    survivors = [one.mutant for one in results if one.outcome == "survived"]
    for mutant in survivors:
        print(f"\n{format_diff(mutant)}")  # noqa: T201 - the report
    return len(survivors)


def main() -> int:
    """Run a sample; fail when a mutant survives."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--file", default="", help="only files with this in their path")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--suites", nargs="+", choices=SUITES, default=SUITES)
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--again", type=Path, help="run the survivors of an earlier run again")
    parser.add_argument("--list", action="store_true", help="print the sample without running it")
    options = parser.parse_args()
    mutants = choose_mutants(options)
    if options.list:
        print("\n".join(map(format_diff, mutants)))  # noqa: T201 - the report
        return 0
    results = run_mutants(mutants, options.jobs, options.suites)
    if options.json:
        rows = [asdict(one) for one in results]
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return 1 if print_report(results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
