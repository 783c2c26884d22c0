"""Mutated files of every format: each costs at most itself. `tools/fuzz` runs thousands."""

from pathlib import Path

from tools.fuzz.run import fuzz, load_samples

SAMPLES = Path(__file__).parents[2] / "samples/formats"
COUNT = 80


def test_a_mutated_file_costs_itself_and_nothing_else():
    *_, findings = fuzz(SAMPLES, COUNT, seed=20)
    assert findings.faults == []
    assert findings.files == COUNT
    assert findings.kinds["new"] > COUNT // 4, "most files must reach their parsers"
    assert findings.kinds["error"] > 0


def test_every_sample_is_small_enough_to_be_mutated():
    names = {path.name for path in SAMPLES.rglob("*") if path.is_file()}
    assert {name for name, _ in load_samples(SAMPLES)} == names
