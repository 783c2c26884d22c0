import json
import subprocess
import sys

import pytest

_HELD = 60_000_000


def peak(program, *, beside=0):
    """Return what the program tells, and its status, started by a process of some size."""
    starter = (
        "import subprocess, sys; held = bytearray(int(sys.argv[1]));"
        " sys.exit(subprocess.run(sys.argv[2:]).returncode)"
    )
    command = [sys.executable, "-m", "tools.bench.workers", "memory", sys.executable, "-c", program]
    ran = subprocess.run(
        [sys.executable, "-c", starter, str(beside), *command], capture_output=True, check=False
    )
    return json.loads(ran.stdout)["peak_bytes"], ran.returncode


def test_the_memory_of_a_program_is_reported_whoever_starts_it():
    small, _ = peak("pass")
    large, _ = peak(f"held = bytearray({_HELD})")
    beside, _ = peak("pass", beside=4 * _HELD)

    assert small < large - _HELD / 2
    assert beside == pytest.approx(small, rel=0.2)


def test_what_it_prints_is_passed_over_and_its_status_is_kept():
    held, status = peak("print('noise'); raise SystemExit(3)")

    assert held > 0
    assert status == 3
