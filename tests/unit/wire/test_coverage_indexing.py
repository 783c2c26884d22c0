import pytest

from kebab.wire.coverage import Indexing, format_indexing


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
