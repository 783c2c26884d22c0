"""The grid of faults, run once for all tests, and its table at the end."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.grid import DEFAULT, FULL
from tests.faults.ledger import Ledger
from tests.faults.runner import Runner
from tests.faults.stage import opened

WANTED = os.environ.get("KEBAB_FAULTS", "")
"""`full` for all of the grid; anything else leaves only the faults that have it in their name."""

_MEMORY = Path("/dev/shm")
_LEDGERS: list[Ledger] = []


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A folder that costs little to fill, in memory where the system has such."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="kebab-faults-", dir=place))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def ledger(folder: Path) -> Ledger:
    """What came of every fault of the grid."""
    size, wanted = (FULL, "") if WANTED == "full" else (DEFAULT, WANTED)
    with opened(folder) as stage:
        found = Runner(stage, size, wanted).all()
    _LEDGERS.append(found)
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what came of the faults."""
    for ledger in _LEDGERS:
        terminalreporter.section("faults")
        for line in ledger.table():
            terminalreporter.write_line(line)
