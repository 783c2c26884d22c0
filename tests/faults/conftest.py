"""The grid of faults, run once for all tests, and its table at the end."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults import __main__ as part
from tests.faults.ledger import Ledger
from tests.isolation import REAL

_ASKED = REAL.get("KEBAB_FAULTS", "")
"""Nothing for the default grid, `full` or `full TEXT` for the large one, TEXT alone for a part."""

FULLY = _ASKED.partition(" ")[0] == "full"
WANTED = _ASKED.removeprefix("full").strip() if FULLY else _ASKED
"""Only faults that have this in their name are run."""

_ROOT = Path(__file__).parents[2]
_MEMORY = Path("/dev/shm")
_PARTS = 2


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A folder that costs little to fill, in memory where the system has such."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="kebab-faults-", dir=place))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def ledger(folder: Path, sections: dict[str, list[str]]) -> Ledger:
    """What came of every fault of the grid."""
    found = Ledger()
    places = [folder / str(number) for number in range(_PARTS)]
    with ExitStack() as undo:
        running = [undo.enter_context(_start_part(place, at)) for at, place in enumerate(places)]
        for one in running:
            undo.callback(one.kill)
        for place, one in zip(places, running, strict=True):
            assert one.wait() == 0, (place / "stderr").read_text(errors="replace")
            found.merge(part.read_ledger(place))
    sections["faults"] = list(found.table())
    return found


def _start_part(place: Path, number: int) -> subprocess.Popen[bytes]:
    """Start a part of the grid; what its libraries print is shown only if it fails."""
    place.mkdir()
    size = "full" if FULLY else "default"
    line = [sys.executable, "-W", "error", "-m", "tests.faults"]
    with (place / "stderr").open("wb") as err:
        return subprocess.Popen(
            [*line, str(place), size, str(number), str(_PARTS), WANTED],
            cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(_ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=err,
            stderr=err,
        )
