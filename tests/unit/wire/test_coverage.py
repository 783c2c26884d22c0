import pytest

from kebab.wire.coverage import (
    Indexing,
    describe_absent_words,
    describe_gaps,
    describe_known_gaps,
    format_indexing,
)
from tests.fakes.replies import coverage

COMPLETE = coverage()


def test_an_absence_is_stated_where_everything_is_covered():
    assert describe_absent_words("fjord", COMPLETE) == "not in your notes: fjord"
    assert describe_absent_words("fjord", None, "what was searched") == (
        "not in what was searched: fjord"
    )


def test_an_absence_that_is_not_covered_says_what_is_missing():
    found = coverage(unread=2798, checked=2205)

    assert describe_absent_words("UV_HTTP_TIMEOUT", found) == (
        "not in the files that are read: UV_HTTP_TIMEOUT (2,798 of 5,003 files are not read yet)"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"new": 1}, "1 new file is not read yet", id="new"),
        pytest.param({"failed": 2, "checked": 5001}, "2 files could not be read", id="failed"),
        pytest.param({"changed": 1}, "1 file changed since the last scan", id="changed"),
        pytest.param(
            {"checked": 5000}, "3 of 5,003 files were not compared with the disk", id="few"
        ),
        pytest.param(
            {"unchecked_folders": 1}, "1 folder not looked at for new files", id="folders"
        ),
        pytest.param({"unlisted": ["/n"]}, "not all files of `/n` are known", id="unlisted"),
        pytest.param({"pending_vectors": 7}, "", id="vectors"),
        pytest.param({"gone": 7}, "", id="gone"),
        pytest.param(
            {"partial": 1, "partial_examples": ["a.xml"], "partial_reasons": ["only page 1"]},
            "perhaps in the part of `a.xml` (only page 1) that is not searched",
            id="part",
        ),
        pytest.param(
            {"partial": 4, "partial_examples": ["a.xml", "b.xml"]},
            "perhaps in the part of `a.xml`, `b.xml` and 2 more that is not searched",
            id="parts",
        ),
    ],
)
def test_what_keeps_a_word_from_being_absent(fields, words):
    assert describe_gaps(coverage(**fields), "absent") == words


def test_vectors_matter_for_meaning_only():
    found = coverage(pending_vectors=7)

    assert describe_gaps(found, "convincing") == "7 passages not embedded yet"
    assert describe_gaps(found, "convincing", by_words=True) == ""


def test_files_are_searched_for_lines_as_they_are_now():
    assert describe_gaps(coverage(changed=3, checked=2), "lines") == ""
    assert describe_gaps(coverage(new=1), "lines") == "1 new file is not read yet"
    assert describe_gaps(coverage(partial=1, partial_examples=["a.pdf"]), "lines") == (
        "perhaps in the part of `a.pdf` that is not searched"
    )


def test_results_are_shown_with_what_is_known_to_be_missing():
    assert describe_known_gaps(coverage(checked=2, partial=1, pending_vectors=3)) == ""
    assert describe_known_gaps(coverage(gone=1)) == "1 file is gone"


def test_a_running_ingest_is_told_with_its_progress():
    indexing = Indexing(pid=7, started_at="", done=1, total=9, unit="passages")

    found = describe_gaps(coverage(indexing=indexing), "absent")

    assert found == "an ingest is running: 1 of 9 passages, pid 7"
    assert describe_gaps(coverage(indexing=indexing, unread=3, checked=5000), "absent") == (
        "an ingest is running: pid 7; 3 of 5,003 files are not read yet"
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((None, None, None), "scanning folders, pid 7"),
        ((3, 2549, "files"), "3 of 2,549 files, pid 7"),
        ((2695, 24020, "passages"), "2,695 of 24,020 passages, pid 7"),
    ],
)
def test_the_progress_is_one_phrase(counts, said):
    done, total, unit = counts

    assert (
        format_indexing(Indexing(pid=7, started_at="", done=done, total=total, unit=unit)) == said
    )
