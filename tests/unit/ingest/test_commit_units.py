import pytest

from kebab.chunk.budget import Budget
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.ingest import commit
from kebab.ingest.build import DocumentBuilder
from kebab.ingest.commit import plan_units, split_batches
from kebab.ingest.plan import FileTask
from kebab.parse.registry import PARSERS, guard_parser
from tests.fakes.hostile_parsers import MEDIA, HostileParser

BUILDER = DocumentBuilder(
    parsers={**PARSERS, MEDIA: HostileParser()},
    guard=guard_parser,
    budget=Budget(),
    chunker="c",
    recipes={},
    deadline_s=30,
)


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch):
    monkeypatch.setattr(commit, "count_cores", lambda: 4)


def tasks(*sizes, media="text/markdown"):
    source = Source(name="s", root="/s", kind="folder")
    entries = [FileEntry(f"{n}", f"/s/{n}", size, 1, 1, media) for n, size in enumerate(sizes)]
    return [FileTask(kind="new", source=source, entry=entry) for entry in entries]


def test_batches_are_small_in_files_and_in_bytes():
    work = tasks(*[100_000] * 40)

    batches = [unit.files for unit in split_batches(work, range(40))]

    assert [number for batch in batches for number in batch] == list(range(40))
    assert max(map(len, batches)) == 10


def test_many_texts_are_shared_by_all_cores():
    plan = plan_units(tasks(*[500_000] * 40), BUILDER)

    assert (len(plan.units), plan.workers) == (20, 4)


@pytest.mark.parametrize("sizes", [[3_000_000] * 3, [100] * 100])
def test_a_few_or_small_texts_need_no_worker(sizes):
    assert plan_units(tasks(*sizes), BUILDER).units == []
