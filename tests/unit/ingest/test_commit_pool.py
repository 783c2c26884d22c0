from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab import platform
from kebab.chunk.budget import Budget
from kebab.core.chunks import make_doc_id
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.ingest import commit
from kebab.ingest.build import BuildTask, BuiltFile, DocumentBuilder, WorkerBuilder, compute_recipes
from kebab.ingest.commit import build_ahead
from kebab.ingest.plan import FileTask
from kebab.parse.registry import PARSERS, guard_parser
from tests.fakes.hostile_parsers import MEDIA, HostileParser

FILES = 40


def make_builder(**changes):
    parsers = {**PARSERS, MEDIA: HostileParser()}
    made = DocumentBuilder(
        parsers=parsers,
        guard=guard_parser,
        budget=Budget(),
        chunker="c",
        recipes=compute_recipes(parsers, "c"),
        deadline_s=30,
        max_memory_mb=200,
    )
    return replace(made, **changes)


@pytest.fixture
def builder():
    return make_builder()


@pytest.fixture
def work(tmp_path):
    """Return work that is said to be large enough for workers; the tenth file is missing."""
    found = []
    for number in range(FILES):
        task = make_task(
            tmp_path / f"{number}.md", f"# Title {number}\n\nText {number}.\n", 100_000
        )
        found.append(task)
    (tmp_path / "10.md").unlink()
    return found


def make_task(path, text, size=100, media="text/markdown"):
    source = Source(name=str(path.parent), root=str(path.parent), kind="folder")
    path.write_text(text)
    entry = FileEntry(path.name, str(path), size, 1, 1, media)
    return FileTask(kind="new", source=source, entry=entry)


@pytest.fixture
def hostile(tmp_path):
    """Return a function that makes work of hostile files with these texts."""

    def make(*texts):
        return [
            make_task(tmp_path / f"{number}.pdf", text, media=MEDIA)
            for number, text in enumerate(texts)
        ]

    return make


def name(work):
    return make_doc_id(work.source.name, work.entry.path)


@contextmanager
def results(work, builder, should_stop=lambda: False) -> Iterator[list[Any]]:
    with build_ahead(work, builder, name, should_stop) as found:
        yield [next(found) for _ in work]


def build(work, builder):
    with results(work, builder) as found:
        return found


def describe(result):
    if isinstance(result, ParseFailed):
        return result.cause
    if isinstance(result, BuiltFile):
        return "built"
    return type(result).__name__


def test_a_document_of_a_worker_equals_one_built_here(work, builder):
    here: Any = WorkerBuilder(builder, cuts=True)

    with results(work, builder) as found:
        for one, there in zip(work, found, strict=True):
            mine = here.build(BuildTask(one.source, one.entry, name(one)))
            assert (mine and mine.made) == (there and there.made)


def test_long_file_names_cause_no_deadlock(work, builder):
    named = [
        replace(one, entry=one.entry._replace(path="x" * 3_000 + one.entry.path)) for one in work
    ]

    with results(named, builder) as found:
        assert [one is None for one in found] == [number == 10 for number in range(FILES)]


def test_a_hostile_file_costs_exactly_itself(hostile):
    texts = ("one", "crash", "two", "leave 7", "miss", "refuse encrypted", "fail a panic", "three")

    found = build(hostile(*texts), make_builder())

    assert list(map(describe, found)) == [
        "built",
        "the parser crashed (signal 11)",
        "built",
        "the parser ended its process (status 7)",
        DependencyMissing.__name__,
        "encrypted",
        "the parser failed: a panic",
        "built",
    ]


@pytest.mark.parametrize("act", ["allocate 900", "exhaust 900"])
def test_a_file_that_needs_too_much_memory_costs_exactly_itself(hostile, act, monkeypatch):
    monkeypatch.setattr(platform, "read_peak_memory", lambda: 0)  # that of the tests may be higher

    found = build(hostile("one", act, "two"), make_builder())

    assert list(map(describe, found)) == ["built", "needs more than 200 MB of memory", "built"]


def test_a_text_that_kills_its_worker_costs_no_other_text_of_its_batch(work):
    hostile = make_builder()
    parser = HostileParser()
    own = replace(hostile, parsers={**hostile.parsers, "text/markdown": ShareParser(parser)})
    own = replace(own, recipes=compute_recipes(own.parsers, "c"))
    Path(work[5].entry.absolute).write_text("crash")

    found = list(map(describe, build(work, own)))

    assert found[5] == "the parser crashed (signal 11)"
    assert [number for number, one in enumerate(found) if one != "built"] == [5, 10]


class ShareParser:
    """A hostile parser for text, which shares a worker with other texts."""

    version = "share-v1"

    def __init__(self, parser):
        self.parser = parser

    def parse(self, data, path):
        return self.parser.parse(data, path)


def test_a_worker_is_replaced_after_many_documents(hostile, monkeypatch, tmp_path):
    monkeypatch.setattr(commit, "_MAX_DOCUMENTS", 3)
    monkeypatch.setattr(commit, "count_cores", lambda: 1)
    (tmp_path / "seen").mkdir()

    found = build(hostile(*[f"count {tmp_path / 'seen'}"] * 7), make_builder())

    assert set(map(describe, found)) == {"built"}
    assert len(list((tmp_path / "seen").iterdir())) >= 2


def test_isolated_files_and_texts_share_the_workers(work, hostile, builder):
    mixed = [
        one
        for pair in zip(work, hostile(*["words"] * 35, *["crash"] * 5), strict=True)
        for one in pair
    ]

    found = list(map(describe, build(mixed, builder)))

    assert found[0:40:2] == ["built" if number != 10 else "NoneType" for number in range(20)]
    assert found[1:70:2] == ["built"] * 35
    assert found[71::2] == ["the parser crashed (signal 11)"] * 5
