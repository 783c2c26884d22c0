from contextlib import contextmanager
from dataclasses import replace

import pytest

from kebab.chunk.budget import Budget
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.core.ids import make_doc_id
from kebab.ingest.build import DocumentBuilder, compute_recipes
from kebab.ingest.job import ItemKind
from kebab.ingest.plan import FileTask
from kebab.ingest.prefetch import (
    BuildTask,
    PrefetchWorker,
    build_document,
    prefetch_documents,
    split_batches,
)
from kebab.parse.registry import PARSERS, guard_parser

FILES = 40


@pytest.fixture
def builder():
    made = compute_recipes(PARSERS, "c")
    return DocumentBuilder(
        parsers=PARSERS,
        guard=guard_parser,
        budget=Budget(),
        chunker="c",
        recipes=made,
        deadline_s=30,
    )


@pytest.fixture
def work(tmp_path):
    """Return work that is said to be large enough for a helper; the tenth file is missing."""
    source = Source(name=str(tmp_path), root=str(tmp_path), kind="folder")
    found = []
    for number in range(FILES):
        path = tmp_path / f"{number}.md"
        if number != 10:
            path.write_text(f"# Title {number}\n\nText {number}.\n")
        entry = FileEntry(path.name, str(path), 100_000, 1, 1, "text/markdown")
        found.append(FileTask(kind=ItemKind.NEW, source=source, entry=entry))
    return found


def name(work):
    return make_doc_id(work.source.name, work.entry.path)


@contextmanager
def rows(work, builder):
    with prefetch_documents(work, builder, name) as found:
        yield [next(found) for _ in work]


def test_rows_come_in_the_order_of_the_work(work, builder):
    with rows(work, builder) as found:
        titles = [one.row.title if one else None for one in found]

    assert titles == [f"Title {number}" if number != 10 else None for number in range(FILES)]


def test_a_prefetched_document_equals_one_built_here(work, builder):
    with rows(work, builder) as found:
        for one, there in zip(work, found, strict=True):
            here = build_document(builder, task(one))
            assert (here and here.row) == (there and there.row)


def task(work):
    return BuildTask(work.source, work.entry, name(work))


def test_few_files_start_no_worker(work, builder):
    with rows(work[:3], builder) as found:
        assert found == [None] * 3


def test_another_token_counter_starts_no_worker(work, builder):
    own = replace(builder, budget=Budget(count=lambda texts: [len(text) for text in texts]))

    with rows(work, own) as found:
        assert found == [None] * FILES


@pytest.mark.parametrize("program", ["/bin/false", "/absent/python"])
def test_without_a_worker_the_caller_builds_every_document(work, builder, monkeypatch, program):
    monkeypatch.setattr("sys.executable", program)

    with rows(work, builder) as found:
        assert found == [None] * FILES


def test_a_busy_worker_gets_no_more_than_its_pipe_holds(work, builder):
    long = [
        task(one)._replace(entry=one.entry._replace(path="x" * 3_000 + one.entry.path))
        for one in work[:9]
    ]
    helper = PrefetchWorker(builder)
    try:
        assert helper.send(long)
        assert not helper.send(long)
        assert helper.send([task(work[0])])
        assert [len(helper.receive() or []) for _ in range(2)] == [9, 1]
        assert helper.send(long)
    finally:
        helper.close()


def test_long_file_names_cause_no_deadlock(work, builder):
    named = [
        replace(one, entry=one.entry._replace(path="x" * 3_000 + one.entry.path)) for one in work
    ]

    with rows(named, builder) as found:
        assert [one is None for one in found] == [number == 10 for number in range(FILES)]


def test_closing_ends_the_worker_process(builder):
    helper = PrefetchWorker(builder)

    helper.close()

    assert helper.receive() is None
    assert helper._process.returncode is not None


def test_parts_are_small_in_files_and_in_bytes(work):
    parts = list(split_batches(work))

    assert [one for part in parts for one in part] == work
    assert max(map(len, parts)) == 10
    assert max(sum(one.entry.size for one in part) for part in parts) <= 1_000_000


def test_a_file_above_the_limit_of_a_part_is_a_part(work):
    large = replace(work[0], entry=work[0].entry._replace(size=5_000_000))

    assert [len(part) for part in split_batches([large, *work[:2]])] == [1, 2]
