import re
import subprocess
import sys
from pathlib import Path

from tests.unit.tools.powercut.test_record import needs_strace

ROOT = Path(__file__).parents[4]


@needs_strace
def test_the_next_run_repairs_what_a_cut_in_the_first_ingest_leaves():
    line = [sys.executable, "-m", "tools.powercut", "--steps", "first", "--states", "2"]

    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) calls, (\d+) moments, (\d+) disks, 0 not repaired", done.stdout)
    assert found is not None, done.stdout
    calls, moments, disks = map(int, found.groups())
    assert calls > moments > 100
    assert disks == 2
