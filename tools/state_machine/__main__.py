"""Runs random operations until there were enough, and prints the shortest sequence that diverges.

    python -m tools.state_machine --steps 10000 --seed 1

The printed sequence is a program: saved in a file, it runs in the folder of the repository.
"""

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tools.state_machine.machine import KnowledgeBase

_HEAD = "from tools.state_machine.machine import *\nKnowledgeBase.processes = True"


def main() -> int:
    """Run the program; the exit status is 1 after a divergence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=100, help="steps of one sequence")
    parser.add_argument("--no-processes", action="store_true", help="no kills, no warm calls")
    parser.add_argument("--no-shrink", action="store_true", help="print the first sequence")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kebab-models-") as folder:
        KnowledgeBase.models = Path(folder) / "models"
        KnowledgeBase.processes = not options.no_processes
        status = run_steps(options)
    counts = ", ".join(f"{name} {count}" for name, count in KnowledgeBase.counts.most_common())
    _print(f"{count_steps():,} steps in {time.monotonic() - started:.0f} s: {counts}")
    return status


def run_steps(options: argparse.Namespace) -> int:
    """Run sequences with seeds one after another; return 1 after a divergence."""
    number = options.seed
    while count_steps() < options.steps:
        sequences = -(-(options.steps - count_steps()) // options.length)
        machine = seed(number)(type("KnowledgeBase", (KnowledgeBase,), {}))
        chosen = build_settings(min(sequences, 20), options.length, shrink=not options.no_shrink)
        try:
            run_state_machine_as_test(machine, settings=chosen)
        except Exception as fault:  # noqa: BLE001 - the divergence is reported
            notes = "\n".join(getattr(fault, "__notes__", ()))
            trace = "".join(traceback.format_tb(fault.__traceback__)[-4:])
            _print(f"seed {number}:\n{trace}{type(fault).__name__}: {fault}\n\n{_HEAD}\n{notes}")
            return 1
        number += 1
        _print(f"{count_steps():,} steps")
    return 0


def build_settings(sequences: int, length: int, *, shrink: bool) -> settings:
    """Return the settings of a run, which depends on its seed only."""
    return settings(
        max_examples=sequences,
        stateful_step_count=length,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )


def count_steps() -> int:
    """Return the number of operations of all sequences."""
    return sum(count for name, count in KnowledgeBase.counts.items() if name != "died")


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the output of the program


if __name__ == "__main__":
    sys.exit(main())
