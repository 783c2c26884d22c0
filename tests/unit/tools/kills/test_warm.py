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
    outcome = run_kills(short_folder, count=3, seed=3)

    assert outcome.faults == []
    assert outcome.kills >= 3
    assert 0 < outcome.warm_calls <= outcome.calls
    assert 0 < outcome.kills_within_calls <= outcome.kills


def test_it_ends_after_its_time(short_folder):
    outcome = run_kills(short_folder, count=1000, seed=3, longest_s=1.0)

    assert outcome.faults == []
    assert outcome.kills < 1000
