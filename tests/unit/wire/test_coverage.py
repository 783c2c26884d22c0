import pytest

from kebab.wire.coverage import (
    Indexing,
    describe_absent_words,
    describe_gaps,
    format_indexing,
)
from tests.fakes.replies import coverage


def test_an_absence_that_is_not_covered_says_what_is_missing():
    found = coverage(unread=2798, checked=2205)

    assert describe_absent_words("UV_HTTP_TIMEOUT", found) == (
        "not in the files that are read: UV_HTTP_TIMEOUT (2,798 of 5,003 files are not read yet)"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"new": 1}, "1 new file is not read yet", id="new"),
        pytest.param(
            {"failed": 2, "failed_examples": ["a.pdf"], "checked": 5001},
            "`a.pdf` and 1 more could not be read",
            id="failed",
        ),
        pytest.param(
            {"partial": 4, "partial_examples": ["a.xml", "b.xml"]},
            "perhaps in the part of `a.xml`, `b.xml` and 2 more that is not searched",
            id="parts",
        ),
        pytest.param(
            {"indexing": Indexing(pid=7, started_at="", done=3, total=9, unit="passages")},
            "",
            id="vectors",
        ),
    ],
)
def test_what_keeps_a_word_from_being_absent(fields, words):
    assert describe_gaps(coverage(**fields), "absent") == words


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
