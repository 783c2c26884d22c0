from kebab.core.progress import Progress, ignore_progress
from kebab.core.queries import Filters
from kebab.search import duplicates as module
from kebab.search.duplicates import sign_passages


def test_passages_of_a_document_are_consecutive(base):
    base.add("b.md", "one two three", "four five")
    base.add("a.md", "six", tags=["x"])

    found = sign_passages(base.reader(), Filters(), ignore_progress)

    assert (found.owners, found.starts) == ([0, 1, 1], [0, 1])
    assert found.counts == [1, 3, 2]
    assert found.rows.shape[0] == 3
    assert len(set(found.contents)) == 2


def test_only_what_passes_the_filters_is_read(base):
    base.add("a.md", "one")
    base.add("b.md", "two", tags=["x"])

    found = sign_passages(base.reader(), Filters(tag=("x",)), ignore_progress)

    assert len(found.keys) == 1


def test_batches_give_the_same_result_and_report_progress(base, monkeypatch):
    base.add("a.md", *(f"passage number {number}" for number in range(25)), embed=False)
    whole = sign_passages(base.reader(), Filters(), ignore_progress)
    monkeypatch.setattr(module, "_BATCH", 4)
    monkeypatch.setattr(module, "_REPORT_EVERY", 8)
    events: list[Progress] = []

    parts = sign_passages(base.reader(), Filters(), events.append)

    assert [(one.done, one.total, one.phase) for one in events] == [
        (8, 25, "compare"),
        (16, 25, "compare"),
        (24, 25, "compare"),
    ]
    assert parts.rows.tolist() == whole.rows.tolist()
    assert (parts.texts, parts.keys) == (whole.texts, whole.keys)
