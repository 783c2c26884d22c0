import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]


def test_killed_commands_leave_what_the_next_run_completes():
    line = [sys.executable, "-m", "tools.kills", "--operations", "first", "--count", "2"]

    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    rows = [row.strip("| ").split(" | ") for row in done.stdout.splitlines() if row[:1] == "|"]
    assert [row[0] for row in rows] == ["operation", "---|---|---|---|---|---", "first", "all"]
    assert rows[-1][1] == "2"
    assert rows[-1][3:] == ["0", "0", "0"]
