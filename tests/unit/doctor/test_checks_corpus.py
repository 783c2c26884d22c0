from dataclasses import replace

from msgspec.structs import replace as replace_fields

from kebab.core.documents import Source, SourceCounts
from kebab.doctor import checks
from kebab.doctor.checks import DocumentInputs
from tests.fakes.replies import coverage


def asked(found=None, pending=0):
    return DocumentInputs(count_pending=lambda: pending, measure_coverage=lambda: found)


def test_passages_without_a_vector_are_a_worry_with_its_fix():
    assert checks.check_pending(asked()).status == "ok"

    no_model = replace(asked(pending=2), has_model=lambda: False)
    assert checks.check_pending(no_model).fix == "kebab model pull"
    finding = checks.check_pending(asked(pending=1200))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == "1,200 passages without a vector, found by words only"


def test_files_that_are_read_are_well():
    finding = checks.check_files(asked(coverage()))

    assert finding.status == "ok"
    assert finding.summary == "every file is read as it is now: 5,003 files"


def test_files_that_are_not_read_as_they_are_now_are_counted():
    finding = checks.check_files(asked(coverage(unread=3, checked=5000, changed=1, gone=2)))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == (
        "3 of 5,003 files are not read yet; 1 file changed since the last scan; 2 files are gone"
    )


def test_passages_without_a_vector_are_no_matter_of_files():
    assert checks.check_files(asked(coverage(pending_vectors=3))).status == "ok"


def test_without_files_there_is_nothing_to_look_at():
    assert checks.check_files(asked()).status == "skip"
    assert checks.check_files(asked(replace_fields(coverage(), files=0))).status == "skip"


def test_the_files_of_a_lost_folder_are_left_to_the_check_of_folders():
    lost = SourceCounts(Source(name="/a", root="/a", kind="folder"), 2, 5, None)

    def check(**fields):
        found = replace(asked(coverage(**fields)), list_lost_sources=lambda: [lost])
        return checks.check_files(found).summary

    assert check(gone=2) == "every other file is read as it is now: 5,001 files"
    assert check(gone=3) == "1 file is gone"
    assert check(gone=2, files=2, checked=2) == "no document has a file"


def test_a_lost_folder_is_fixed_by_removing_its_source():
    lost = [
        SourceCounts(Source(name=name, root=name, kind="folder"), 2, 5, None)
        for name in ("/a b", "/c")
    ]
    inputs = replace(asked(), list_lost_sources=lambda: lost)

    finding = checks.check_sources(inputs)

    assert (finding.status, finding.fix) == ("warn", "kebab source rm '/a b'")
    assert finding.summary.endswith("2 documents in the index is gone or empty: /a b, and 1 more")


def test_present_folders_are_well():
    assert checks.check_sources(asked()).status == "ok"
