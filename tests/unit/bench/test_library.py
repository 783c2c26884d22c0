import json

import pytest

from kebab.bench.bed import Bed
from kebab.bench.corpus import write_pages
from kebab.bench.library import changed, index, said
from kebab.bench.process import Outcome
from tests.fakes.runner import VERSION, FakeRunner


@pytest.fixture
def corpus(tmp_path):
    return write_pages(tmp_path / "files", 3, 1)


def bed(tmp_path, **script):
    return Bed(tmp_path / "bed", tmp_path / "models", FakeRunner(**script))


def test_indexing_tells_chunks_disk_and_model(tmp_path, corpus):
    indexed = index(bed(tmp_path, version=VERSION), corpus)

    assert (indexed.fault, indexed.chunks, indexed.version) == (None, 6, VERSION)
    assert indexed.disk_bytes > 0


def test_without_a_model_there_is_no_version(tmp_path, corpus):
    assert index(bed(tmp_path), corpus).version is None


def test_a_run_that_fails_is_told(tmp_path, corpus):
    assert "broken on purpose" in str(index(bed(tmp_path, broken="ingest"), corpus).fault)


def test_a_run_that_leaves_files_out_does_not_count(tmp_path, corpus):
    home = bed(tmp_path)
    index(home, corpus)

    assert index(home, corpus).fault == "of 3 files 0 were new, 0 failed"


@pytest.mark.parametrize(("unchanged", "fault"), [(3, None), (2, "2 of 3 files unchanged")])
def test_a_second_run_counts_when_nothing_changed(corpus, unchanged, fault):
    outcome = Outcome(status=0, seconds=1, out=json.dumps({"unchanged": unchanged}).encode())

    assert changed(outcome, corpus) == fault


def test_a_second_run_that_fails_does_not_count(corpus):
    assert changed(Outcome(status=2, seconds=1), corpus) == "exit status 2"


@pytest.mark.parametrize("out", [b"", b"text", b"[1]", b"\xff"])
def test_what_is_no_object_says_nothing(out):
    assert said(Outcome(status=0, seconds=1, out=out)) == {}
