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


def test_a_file_above_the_limit_of_a_batch_is_a_batch():
    assert [unit.files for unit in split_batches(tasks(5_000_000, 1, 1), range(3))] == [
        (0,),
        (1, 2),
    ]


def test_many_texts_are_shared_by_all_cores():
    plan = plan_units(tasks(*[500_000] * 40), BUILDER)

    assert (len(plan.units), plan.workers) == (20, 4)


@pytest.mark.parametrize("sizes", [[3_000_000] * 3, [100] * 100])
def test_a_few_or_small_texts_need_no_worker(sizes):
    assert plan_units(tasks(*sizes), BUILDER).units == []


def test_on_one_core_texts_need_no_worker(monkeypatch):
    monkeypatch.setattr(commit, "count_cores", lambda: 1)

    assert plan_units(tasks(*[500_000] * 40), BUILDER).units == []


def test_a_huge_text_is_left_to_the_caller():
    plan = plan_units(tasks(150_000_000, *[500_000] * 40), BUILDER)

    assert 0 not in {number for unit in plan.units for number in unit.files}


def test_an_isolated_file_is_alone_in_its_unit_and_one_worker_is_enough_for_it():
    plan = plan_units(tasks(10, media=MEDIA), BUILDER)

    assert [(unit.files, unit.isolated) for unit in plan.units] == [((0,), True)]
    assert plan.workers == 1


def test_units_come_in_the_order_of_the_files():
    mixed = tasks(*[500_000] * 40)
    mixed[7] = tasks(*[10] * 8, media=MEDIA)[7]

    first = [unit.files[0] for unit in plan_units(mixed, BUILDER).units]

    assert first == sorted(first)
    assert 7 in first
