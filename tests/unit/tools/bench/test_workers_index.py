import json
import subprocess
import sys

import pytest

from kebab.bench.sandbox import Sandbox, write_notes
from kebab.embed.registry import MINILM
from tools.bench.synthetic_index import index_with_synthetic_vectors
from tools.bench.workers import time_calls
from tools.bench.yardsticks import build_module_command


def test_a_folder_is_indexed_with_vectors_and_no_model(tmp_path):
    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")

    found = index_with_synthetic_vectors(
        sandbox, write_notes(tmp_path / "files", 10, 1), MINILM.version
    )

    assert found.fault is None
    assert found.chunks >= 10
    assert any(sandbox.data.rglob("*.lance"))


def test_a_folder_that_is_missing_is_a_fault(tmp_path):
    from kebab.bench.sandbox import Corpus

    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")

    assert (
        index_with_synthetic_vectors(
            sandbox, Corpus(tmp_path / "missing", 3, 0), MINILM.version
        ).fault
        is not None
    )


def test_the_first_few_do_not_count():
    assert len(time_calls(str.upper, ["a"] * 8)) == 3


def test_every_question_is_timed_beside_the_word_index_alone(tmp_path):
    sandbox = Sandbox(tmp_path / "sandbox", tmp_path / "models")
    index_with_synthetic_vectors(sandbox, write_notes(tmp_path / "files", 10, 1), MINILM.version)

    outcome = sandbox.run(
        build_module_command("tools.bench.workers", "latency", "lexical", "3", "1")
    )

    told = json.loads(outcome.out)
    assert {name: len(times) for name, times in told.items()} == {
        "first": 100,
        "search": 3,
        "words": 3,
    }


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
