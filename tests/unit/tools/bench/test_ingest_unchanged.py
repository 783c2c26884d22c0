import json

import pytest

from kebab.bench.sandbox import Outcome, write_notes
from tools.bench.ingest import find_changed_files


@pytest.fixture
def corpus(tmp_path):
    return write_notes(tmp_path / "files", 12, 1)


@pytest.mark.parametrize(("unchanged", "fault"), [(3, None), (2, "2 of 3 files unchanged")])
def test_a_second_run_counts_when_nothing_changed(corpus, unchanged, fault):
    outcome = Outcome(status=0, seconds=1, out=json.dumps({"unchanged": unchanged}).encode())

    assert find_changed_files(outcome, corpus) == fault


def test_a_second_run_that_fails_does_not_count(corpus):
    assert find_changed_files(Outcome(status=2, seconds=1), corpus) == "exit status 2"
