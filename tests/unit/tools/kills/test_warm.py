import shutil
import tempfile
from pathlib import Path

import pytest

from tools.kills.warm import run_kills


@pytest.fixture
def short_folder():
    folder = Path(tempfile.mkdtemp(prefix="kk-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_no_call_fails_because_the_warm_process_is_killed(short_folder):
    outcome = run_kills(short_folder, count=6, seed=3)

    assert outcome.faults == []
    assert outcome.kills >= 6
    assert 0 < outcome.warm_calls <= outcome.calls
    assert 0 < outcome.kills_within_calls <= outcome.kills
