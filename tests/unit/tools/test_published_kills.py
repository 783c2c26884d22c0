import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("flags", [(), ("--store", "s3", "--vectors")], ids=["folder", "s3"])
def test_readers_see_one_whole_snapshot_after_kills(tmp_path, flags):
    # A process of its own: steps are forked, and the tests before may have used the object store.
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CACHE", "CONFIG", "DATA")}

    done = subprocess.run(
        [sys.executable, "-m", "tools.published_kills", "--rounds", "2", "--seed", "3", *flags],
        cwd=ROOT,
        env=os.environ | folders | {"XDG_STATE_HOME": str(tmp_path / "STATE")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 rounds, 0 broken")
