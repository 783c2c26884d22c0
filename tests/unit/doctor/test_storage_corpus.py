from dataclasses import replace

import pytest

from kebab.core.documents import Source, SourceCounts
from kebab.doctor import storage
from kebab.doctor.storage import DocumentInputs, IndexedFile


def asked(files=(), pending=0):
    return DocumentInputs(
        count_pending=lambda: pending, sample_files=lambda limit: list(files)[:limit]
    )


@pytest.fixture
def indexed(tmp_path):
    def make(name):
        path = tmp_path / name
        path.write_text("text")
        stat = path.stat()
        return IndexedFile(path, stat.st_size, stat.st_mtime_ns)

    return make


def test_passages_without_a_vector_are_a_worry_with_its_fix():
    assert storage.check_pending(asked()).status == "ok"

    no_model = replace(asked(pending=2), has_model=lambda: False)
    assert storage.check_pending(no_model).fix == "kebab model pull"
    finding = storage.check_pending(asked(pending=1200))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == "1,200 passages without a vector, found by words only"


def test_untouched_files_are_well(indexed):
    finding = storage.check_files(asked([indexed("a.md"), indexed("b.md")]))

    assert finding.status == "ok"
    assert finding.summary == "unchanged since they were indexed: 2 files checked"


def test_changed_and_gone_files_are_counted_with_an_example(indexed):
    same, changed, gone = indexed("a.md"), indexed("b.md"), indexed("c.md")
    changed.path.write_text("longer text")
    gone.path.unlink()

    finding = storage.check_files(asked([same, changed, gone]))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == (f"1 changed, 1 gone of 3 files checked, for example: {changed.path}")


def test_a_file_whose_folder_became_a_file_is_gone(indexed):
    file = indexed("a.md")
    below = IndexedFile(file.path / "b.md", 1, 1)

    assert "1 gone of 1 file" in storage.check_files(asked([below])).summary


def test_a_file_that_cannot_be_inspected_is_reported(indexed):
    too_long = IndexedFile(indexed("a.md").path.with_name("x" * 5000), 1, 1)

    assert "1 unreadable" in storage.check_files(asked([too_long])).summary


def test_without_files_there_is_nothing_to_look_at():
    assert storage.check_files(asked()).status == "skip"


def test_the_sample_is_bounded(indexed, monkeypatch):
    monkeypatch.setattr(storage, "SAMPLE", 20)
    file = indexed("a.md")

    finding = storage.check_files(asked([file] * 21))

    assert finding.summary == "unchanged since they were indexed: 20 files checked"


def test_a_lost_folder_is_fixed_by_removing_its_source():
    lost = [
        SourceCounts(Source(name=name, root=name, kind="folder"), 2, 5, None)
        for name in ("/a b", "/c")
    ]
    inputs = DocumentInputs(
        count_pending=int, sample_files=lambda _: [], list_lost_sources=lambda: lost
    )

    finding = storage.check_sources(inputs)

    assert (finding.status, finding.fix) == ("warn", "kebab source rm '/a b'")
    assert finding.summary.endswith("2 documents in the index is gone or empty: /a b, and 1 more")


def test_present_folders_are_well():
    inputs = DocumentInputs(count_pending=int, sample_files=lambda _: [])

    assert storage.check_sources(inputs).status == "ok"
