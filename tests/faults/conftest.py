"""The grid of faults, run once for all tests, and its table at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import __main__ as grid
from tests.faults.ledger import Ledger
from tests.isolation import REAL

_ASKED = REAL.get("KEBAB_FAULTS", "")
"""Nothing for the default grid, `full` or `full TEXT` for the large one, TEXT alone for a part."""

FULLY = _ASKED.partition(" ")[0] == "full"
WANTED = _ASKED.removeprefix("full").strip() if FULLY else _ASKED
"""Only faults that have this in their name are run."""

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory, sections: dict[str, list[str]]) -> Ledger:
    """What came of every fault of the grid; what libraries print is shown only if it fails."""
    folder = tmp_path_factory.mktemp("faults")
    size = "full" if FULLY else "default"
    line = [sys.executable, "-W", "error", "-m", "tests.faults", str(folder), size, WANTED]
    with (folder / "stderr").open("wb") as err:
        ran = subprocess.run(
            line,
            cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=err,
            stderr=err,
            check=False,
        )
    assert ran.returncode == 0, (folder / "stderr").read_text(errors="replace")
    found = grid.read_ledger(folder)
    sections["faults"] = list(found.table())
    return found
