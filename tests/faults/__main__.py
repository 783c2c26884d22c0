"""The grid in a process of its own: `python -m tests.faults FOLDER GRID WANTED`.

What else a process has imported, and when, decides which calls reach the seams; here it is always
the same.
"""

import pickle
import sys
from pathlib import Path
from typing import Any

from tests.faults.grid import DEFAULT, FULL
from tests.faults.ledger import Ledger
from tests.faults.runner import Runner
from tests.faults.stage import open_stage
from tests.faults.world import is_injected

RESULT = "ledger"


def main(folder: Path, full: str, wanted: str) -> None:
    """Run the grid; leave the ledger in the folder."""
    stray: list[str] = []

    def passed_over(found: Any) -> None:
        # SQLite, and a generator that is thrown away, pass over what is raised in them.
        if not is_injected(found.exc_traceback):
            stray.append(f"some run: traceback: {found.exc_value!r} of {found.object!r}")

    sys.unraisablehook = passed_over
    with open_stage(folder / "homes") as stage:
        found = Runner(stage, FULL if full == "full" else DEFAULT, wanted).all()
    found.broken += stray
    (folder / RESULT).write_bytes(pickle.dumps(found))


def read_ledger(folder: Path) -> Ledger:
    """Return what a process left in its folder."""
    found = pickle.loads((folder / RESULT).read_bytes())
    assert isinstance(found, Ledger)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
