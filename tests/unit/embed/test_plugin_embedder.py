"""Whole plugins are run by `tests/unit/app/test_plugins.py`."""

import threading

import numpy as np
import pytest

from kebab.chunk.budget import estimate_tokens
from kebab.config.settings import Plugins
from kebab.embed import plugin_embedder
from kebab.embed.plugin_embedder import PluginEmbedder, build_plugin_model, find_plugin
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.limits.worker import WorkerProcess
from kebab.plugins import EMBEDDERS, EmbeddingFacts, Plugin

MODULE = """
import os, time
from kebab.plugins import Embedding, EmbeddingFacts

def embed(texts):
    print("noise")
    os.write(1, b"noise")
    for text in texts:
        if "crash" in text:
            os._exit(7)
        while "loop" in text:
            pass
        if "raise" in text:
            raise RuntimeError("no luck")
    if "zero" in texts[0]:
        return [[0, 0]] * len(texts)
    if "short" in texts[0]:
        return [[1, 0]] * 2
    return [[1, len(text)] for text in texts]

MODEL = Embedding(EmbeddingFacts(VERSION, 2, 99, "any", "ask: ", "tell: "), embed)
"""
PLUGIN = Plugin(EMBEDDERS, "tiny", "kebab_tiny:MODEL", "kebab-tiny", "1.0")
FACTS = EmbeddingFacts(1, 2, 99, "any", "ask: ", "tell: ")


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Return a function that writes the module of the plugin and returns its embedder."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def build(module=MODULE, deadline_s=0.0):
        (tmp_path / "kebab_tiny.py").write_text(module.replace("VERSION", "1"))
        model = build_plugin_model(PLUGIN, FACTS)
        return PluginEmbedder(model, PLUGIN, count_tokens=estimate_tokens, deadline_s=deadline_s)

    return build


def test_texts_get_unit_vectors_with_their_prefix_in_slices(build):
    embedder, texts = build(), ["a" * size for size in range(40)]

    found = list(embedder.embed_passages(texts))

    assert [indexes for indexes, _ in found] == [[*range(32)], [*range(32, 40)]]
    expected = np.array([[1, len("tell: ") + size] for size in range(40)], np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(np.concatenate([matrix for _, matrix in found]), expected)
    assert embedder.embed_query("\ud800")[1] == pytest.approx(6 / 37**0.5)
    assert [len(one.spans) for one in embedder.embed_tokens(["a", "b"])] == [0, 0]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("crash", "the model ended its process"),
        ("raise", "no luck"),
        ("zero", "no direction"),
        ("short", r"shape \(2, 2\)"),
    ],
)
def test_a_failure_costs_its_texts(build, text, cause):
    embedder = build()

    with pytest.raises(EmbeddingUnavailable, match=cause):
        embedder.embed_query(text)

    assert embedder.embed_query("fine").shape == (2,)


def test_a_hang_ends_at_the_deadline(build):
    with pytest.raises(TimedOut, match="embedding"):
        build(deadline_s=0.2).embed_query("loop")


@pytest.mark.parametrize(
    ("module", "cause"),
    [
        ("import nowhere", "No module named"),
        ("MODEL = 7", "another version"),
        # Of another size: Python keeps what it compiled from a file of this size and second.
        (MODULE.replace("VERSION", "20"), "another version"),
        ("import time; time.sleep(60)", "more than"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_not_loaded_for_each_search(
    build, monkeypatch, module, cause
):
    monkeypatch.setattr(plugin_embedder, "_LOAD_S", 5.0)
    embedder = build(module)
    with pytest.raises(EmbeddingUnavailable, match=cause):
        embedder.embed_query("a")
    build()

    with pytest.raises(EmbeddingUnavailable, match=cause):
        embedder.embed_query("a")
    monkeypatch.setattr(plugin_embedder, "_RETRY_S", 0.0)
    assert embedder.embed_query("a").shape == (2,)


def test_an_interrupted_call_leaves_no_vector_for_the_next_one(build, monkeypatch):
    embedder = build()
    expected = embedder.embed_query("a" * 5)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WorkerProcess, "wait_for_reply", interrupt)
        with pytest.raises(KeyboardInterrupt):
            embedder.embed_query("a")

    assert np.array_equal(embedder.embed_query("a" * 5), expected)


def test_threads_share_the_process(build):
    embedder, found = build(), {}
    embedder.prepare()

    def ask(size):
        found[size] = embedder.embed_query("a" * size)

    threads = [threading.Thread(target=ask, args=[size]) for size in range(1, 9)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert {size: round(v[1] / v[0]) - len("ask: ") for size, v in found.items()} == {
        size: size for size in range(1, 9)
    }


def test_a_plugin_of_another_package_is_not_the_model(monkeypatch):
    monkeypatch.setattr(
        plugin_embedder, "find_plugins", lambda *_: [PLUGIN._replace(package="other")]
    )
    model = build_plugin_model(PLUGIN, FACTS)

    with pytest.raises(DependencyMissing, match="kebab-tiny"):
        find_plugin(Plugins(), model)
