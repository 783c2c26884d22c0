import itertools

import pytest

from kebab.chunk.budget import Budget
from kebab.core.chunks import make_doc_id
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.core.progress import Cancel
from kebab.errors.catalog import StoreCorrupt
from kebab.ingest.build import DocumentBuilder, compute_recipes
from kebab.ingest.commit import SLOWEST, DocumentCommitter
from kebab.ingest.job import RunContext
from kebab.ingest.plan import FileTask
from kebab.parse.registry import guard_parser


@pytest.fixture
def builder(desk):
    made = compute_recipes(desk.parsers, "c")
    return DocumentBuilder(
        parsers=desk.parsers,
        guard=guard_parser,
        budget=Budget(),
        chunker="c",
        recipes=made,
        deadline_s=0,
    )


def committer(desk, library=None, cancel=None):
    context = RunContext(desk.events.append, desk.clock, cancel or Cancel())
    return DocumentCommitter(library or desk.library, context, desk.ports().describe_error)


def work(desk, name, kind="new"):
    source = Source(name=str(desk.root), root=str(desk.root), kind="folder")
    desk.library.add_source(source)
    entry = FileEntry(name, str(desk.root / name), 1, 1, 1, "text/markdown")
    return FileTask(kind=kind, source=source, entry=entry)


def test_an_id_that_is_taken_is_not_given_twice(desk, builder, monkeypatch):
    desk.write("a.md", "text")
    one = work(desk, "a.md")
    first = make_doc_id(str(desk.root), "a.md")
    monkeypatch.setattr(desk.library, "has_document", lambda doc_id: doc_id == first)
    writer = committer(desk)

    writer.store([one], builder)

    assert writer.items[0].doc_id == make_doc_id(str(desk.root), "a.md", 1)


def test_the_slowest_files_come_slowest_first(desk, builder):
    numbers = range(SLOWEST + 3)
    # The clock is read at the same steps of each file, so later files take longer.
    ticks = (float(tick * tick) for tick in itertools.count())
    desk.clock.monotonic = lambda: next(ticks)
    for number in numbers:
        desk.write(f"{number}.md", f"text {number}")
    writer = committer(desk)

    writer.store([work(desk, f"{number}.md") for number in numbers], builder)

    assert [file.doc_path for file in writer.slowest] == ["7.md", "6.md", "5.md", "4.md", "3.md"]


def test_a_fault_of_the_store_ends_the_run(desk, builder, monkeypatch):
    def refuse(document):
        raise StoreCorrupt(path="kebab.db", cause="damaged")

    desk.write("a.md", "text")
    monkeypatch.setattr(desk.library, "put_document", refuse)

    with pytest.raises(StoreCorrupt):
        committer(desk).store([work(desk, "a.md")], builder)
