from dataclasses import replace
from functools import partial

import pytest

from kebab.chunk.budget import Budget, make_mixed_counter
from kebab.core.chunks import make_doc_id
from kebab.core.documents import Source
from kebab.core.files import FileEntry
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import MINILM
from kebab.errors.catalog import TimedOut
from kebab.ingest import cluster as module
from kebab.ingest.build import BuildTask, BuiltFile, DocumentBuilder, compute_recipes
from kebab.ingest.cluster import ClusterWork, embed_batch
from kebab.ingest.job import NodeModel
from kebab.ingest.members import read_entry
from kebab.ingest.plan import FileTask
from kebab.parse.registry import PARSERS, guard_parser
from tests.fakes.cluster import FakeCluster
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.hostile_parsers import MEDIA, HostileParser
from tests.fakes.tiny_model import install_model

FILES = 40


@pytest.fixture
def model(tmp_path):
    folder = install_model(MINILM, tmp_path / "models")
    return NodeModel(str(folder), partial(OnnxEmbedder, model=MINILM, threads=1))


@pytest.fixture
def builder():
    parsers = {**PARSERS, MEDIA: HostileParser()}
    return DocumentBuilder(
        parsers=parsers,
        guard=guard_parser,
        budget=Budget(),
        chunker="c",
        recipes=compute_recipes(parsers, "c"),
        deadline_s=30,
        max_memory_mb=200,
    )


def make_task(path, text, media="text/markdown"):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    source = Source(name=str(path.parent), root=str(path.parent), kind="folder")
    entry = FileEntry(path.name, str(path), len(text), 1, 1, media)
    return FileTask(kind="new", source=source, entry=entry)


@pytest.fixture
def tasks(tmp_path):
    return [
        make_task(tmp_path / "notes" / f"{number}.md", f"# Title {number}\n\na cat eats {number}\n")
        for number in range(FILES)
    ]


def name(task):
    return make_doc_id(task.source.name, task.entry.path)


def build(work, tasks, builder, should_stop=lambda: False):
    with work.build_ahead(tasks, builder, name, should_stop) as results:
        return [next(results) for _ in tasks]


def cut(results):
    return [result.made if isinstance(result, BuiltFile) else result for result in results]


def test_documents_of_a_cluster_are_those_of_this_machine(tasks, builder, model):
    embedder = model.load(model.folder)
    counter = make_mixed_counter(embedder.count_tokens, embedder.supports)
    counted = replace(builder, budget=Budget(254, counter))
    fake = FakeCluster()

    rows = cut(build(ClusterWork(fake, lambda: model), tasks, counted))

    contents = [read_entry(task.entry, None) for task in tasks]
    here = [
        counted.build_row(BuildTask(task.source, task.entry, name(task)), content)
        for task, content in zip(tasks, contents, strict=True)
    ]
    assert [row.doc_id for row in rows] == [row.doc_id for row in here]
    assert [[one.chunk_id for one in row.chunks] for row in rows] == [
        [one.chunk_id for one in row.chunks] for row in here
    ]
    assert [row.content_hash for row in rows] == [row.content_hash for row in here]
    assert fake.folders == [model.folder]


def test_large_files_and_members_stay_on_this_machine(tasks, builder, monkeypatch):
    monkeypatch.setattr(module, "MAX_TEXT_BYTES", 10)
    fake = FakeCluster()

    build(ClusterWork(fake, lambda: None), tasks, builder)

    assert fake.sizes == []


def embed(work, embedder, texts, should_stop=lambda: False):
    found: dict[int, list[float]] = {}
    for indexes, matrix in work.embed_passages(embedder, texts, should_stop):
        found.update(zip(indexes, matrix.tolist(), strict=True))
    return [found.get(number) for number in range(len(texts))]


TEXTS = [f"a cat eats {'bread ' * (number % 7)}" for number in range(200)]


def test_vectors_of_a_cluster_are_those_of_this_machine(model):
    embedder = model.load(model.folder)
    fake = FakeCluster(lost={1})

    vectors = embed(ClusterWork(fake, lambda: model), embedder, TEXTS)

    [(_, first), *_] = embedder.embed_passages(TEXTS[:1])
    assert fake.sizes == [4]
    assert None not in vectors
    assert vectors[0] == pytest.approx(first[0].tolist(), abs=1e-6)
    assert vectors[64:128] == embed(ClusterWork(fake, lambda: None), embedder, TEXTS)[64:128]


def test_few_texts_and_texts_without_a_model_for_nodes_are_embedded_here(model):
    fake = FakeCluster()

    assert None not in embed(ClusterWork(fake, lambda: model), HashingEmbedder(), TEXTS[:64])
    assert None not in embed(ClusterWork(fake, lambda: None), HashingEmbedder(), TEXTS)
    assert fake.sizes == []


def test_a_batch_that_takes_too_long_on_a_node_is_tried_here():
    class Late(HashingEmbedder):
        def embed_passages(self, texts):
            raise TimedOut(operation="embedding a batch", elapsed_ms=2, deadline_ms=1)

    assert embed_batch(Late(), ["text"]) is None
