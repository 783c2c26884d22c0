import pytest

from kebab.bench.run import index_corpus
from kebab.bench.sandbox import Sandbox, write_notes
from tests.fakes.runner import VERSION, FakeRunner


@pytest.fixture
def corpus(tmp_path):
    return write_notes(tmp_path / "files", 12, 1)


def sandbox(tmp_path, **script):
    return Sandbox(tmp_path / "sandbox", tmp_path / "models", FakeRunner(**script))


def test_indexing_reports_chunks_disk_and_model(tmp_path, corpus):
    indexed = index_corpus(sandbox(tmp_path, version=VERSION), corpus)

    assert (indexed.fault, indexed.chunks, indexed.version) == (None, 6, VERSION)
    assert indexed.disk_bytes > 0


def test_without_a_model_there_is_no_version(tmp_path, corpus):
    assert index_corpus(sandbox(tmp_path), corpus).version is None


def test_a_run_that_fails_is_reported(tmp_path, corpus):
    assert "broken on purpose" in str(
        index_corpus(sandbox(tmp_path, broken="ingest"), corpus).fault
    )


def test_a_run_that_leaves_files_out_does_not_count(tmp_path, corpus):
    home = sandbox(tmp_path)
    index_corpus(home, corpus)

    assert index_corpus(home, corpus).fault == "of 3 files 0 were new, 0 failed"
