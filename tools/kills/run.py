"""Kills every operation and prints a table: what was lost, doubled or wrong afterwards.

    python -m tools.kills --count 1000

The exit status is 1 when anything was wrong.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.kills.operations import count_kills, kill_operations

_MEMORY = Path("/dev/shm")  # noqa: S108 - only where the copies are kept

Table = dict[str, Counter[str]]


def run_all(given: argparse.Namespace, report: Callable[[str], None]) -> Table:
    """Kill about so many processes; return the figures of each operation."""
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="kills-", dir=place) as folder:
        kills = kill_operations(
            Path(folder), given.count, given.seed, given.operations, given.seconds
        )
        return count_kills(kills, report)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the program, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.kills")
    parser.add_argument("--count", type=int, default=500, help="the number of kills, about")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311 - no secret
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="kill no more commands after this time"
    )
    parser.add_argument("--operations", nargs="*", default=[], help="only these; or `watch`")
    given = parser.parse_args(arguments)
    begin = time.monotonic()
    table = run_all(given, _print)
    columns = ("kills", "within", "lost", "doubled", "wrong")
    _print("| operation | kills | within the operation | lost | doubled | wrong |")
    _print("|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for name, counts in table.items():
        total += counts
        _print(f"| {name} | {' | '.join(str(counts[column]) for column in columns)} |")
    _print(f"| all | {' | '.join(str(total[column]) for column in columns)} |")
    _print(f"seed {given.seed}, {time.monotonic() - begin:.0f} s")
    return bool(total["lost"] + total["doubled"] + total["wrong"])
