import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.powercut.check import MERGED, Situation, Verdict, _find_lost_files, run_apart

ROOT = Path(__file__).parents[4]
NOTE = "notes/a.md"
DRIVER = """
import json, shutil, sys
from pathlib import Path
from tools.powercut.check import Lab, Situation
from tools.powercut.session import write_note

lab = Lab(Path(sys.argv[1]))
write_note(lab.home, "a.md", "one")
files = {"notes/a.md": (lab.home / "notes/a.md").read_bytes()}
verdicts = [lab.check(Situation("first", files, files, {}))]
lab.clear()
write_note(lab.home, "a.md", "one")
lab.check(Situation("first", files, files, {}))
table = next((lab.home / "data" / "lance").glob("*.lance"))
shutil.rmtree(table / "_versions")
verdicts.append(lab.check(Situation("edit", files, files, files)))
print(json.dumps([[one.faults, one.embedded, one.doctor.split(": /")[0]] for one in verdicts]))
"""


def test_a_fork_returns_its_result_and_leaves_nothing():
    assert run_apart(lambda: os.environ.setdefault("ONLY_THERE", "x")) == "x"
    assert "ONLY_THERE" not in os.environ


def test_a_fork_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="ended with 1"):
        run_apart(lambda: 1 // 0)


def test_every_fault_counts():
    assert Verdict(lost=["a"], doubled=["b"], wrong=["c"]).faults == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("left", "fault"),
    [
        ({NOTE: b"old"}, None),
        ({NOTE: b"new", f"{NOTE}.orig": b"old"}, None),
        ({NOTE: b"new"}, "the original"),
        ({NOTE: b""}, "the content"),
        ({}, "a file"),
        ({MERGED: b"new"}, None),
    ],
)
def test_a_file_of_the_person_is_old_or_new_and_the_original_is_left(tmp_path, left, fault):
    for name, data in left.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    name = MERGED if MERGED in left else NOTE
    situation = Situation("apply", {name: b"old"}, {name: b"new"}, {})

    found = _find_lost_files(tmp_path, situation)

    assert [line.startswith(str(fault)) for line in found] == ([True] if fault else [])


def test_a_home_is_compared_with_a_clean_run(tmp_path):
    # The forks of a process that has used LanceDB may hang, so the checks have a process.
    line = [sys.executable, "-c", DRIVER, str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        [[], 3, "database: warn: nothing indexed yet"],
        [["embedded 3 for 0 new texts"], 3, "vectors: fail: 3 vectors of 3 missing"],
    ]
