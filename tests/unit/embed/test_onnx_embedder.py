import subprocess
import sys

import numpy as np
import pytest

from kebab.embed import install
from kebab.embed.onnx_embedder import QUERY_WINDOWS, OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
from tests.fakes import tiny_model


@pytest.fixture
def embedder(tmp_path):
    return OnnxEmbedder(tiny_model.install_model(E5_SMALL, tmp_path), E5_SMALL)


def test_queries_and_passages_carry_their_own_prefix(embedder, tmp_path):
    ((_, passages),) = embedder.embed_passages(["the cat"])
    query = embedder.embed_query("the cat")
    bare = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)

    assert query @ passages[0] < 0.999
    assert np.allclose(bare.embed_query("query: the cat"), query, atol=1e-6)
    assert np.allclose(bare.embed_query("passage: the cat"), passages[0], atol=1e-6)


def test_a_long_text_is_the_mean_of_its_windows_by_tokens(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    first, second = "cat " * MINILM.window, "blue sky " * 20

    whole = embedder.embed_query(first + second)

    weighted = embedder.embed_query(first) * 256 + embedder.embed_query(second) * 42
    assert np.allclose(whole, weighted / np.linalg.norm(weighted), atol=1e-5)


@pytest.mark.parametrize("word", ["cat ", "a.", "x" * 90 + " "])
def test_of_a_pasted_page_a_few_windows_are_embedded(tmp_path, monkeypatch, word):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM)
    runs, characters = [], []
    start_run, split_windows = embedder._session.start_run, embedder._tokenizer.split_windows

    def count_run(windows):
        runs.append(len(windows))
        return start_run(windows)

    def count_text(texts, prefix):
        characters.append(sum(map(len, texts)))
        return split_windows(texts, prefix)

    monkeypatch.setattr(embedder._session, "start_run", count_run)
    monkeypatch.setattr(embedder._tokenizer, "split_windows", count_text)
    embedder.embed_query(word * (100_000 // len(word)))

    assert sum(runs) <= QUERY_WINDOWS
    assert sum(characters) <= QUERY_WINDOWS * MINILM.window * 16


def test_a_walk_that_is_left_early_stops_only_itself(tmp_path):
    embedder = OnnxEmbedder(tiny_model.install_model(MINILM, tmp_path), MINILM, threads=2)
    fresh = OnnxEmbedder(tmp_path / MINILM.version, MINILM)

    for indexes, _ in embedder.embed_passages([f"cat {'sky ' * 200}"] * 200):
        assert indexes == list(range(32))
        break

    assert np.array_equal(embedder.embed_query("the cat"), fresh.embed_query("the cat"))


def test_a_deadline_ends_a_walk_over_passages(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)
    embedder = OnnxEmbedder(directory, MINILM, threads=2, deadline_ms=1)

    with pytest.raises(TimedOut):
        list(embedder.embed_passages([f"cat {'sky ' * 2000}"] * 100))


def test_tokens_are_counted_without_the_model(embedder, tmp_path):
    (tmp_path / E5_SMALL.version / install.MODEL_FILE).unlink()

    assert embedder.count_tokens(["the cat"]) == [2]


def test_a_missing_model_is_refused_by_the_first_use(tmp_path):
    embedder = OnnxEmbedder(tmp_path / "nowhere", MINILM)

    with pytest.raises(EmbeddingUnavailable):
        embedder.embed_query("cat")


def test_scripts_follow_the_model(tmp_path, embedder):
    assert embedder.supports("데이터")
    assert not OnnxEmbedder(tmp_path, MINILM).supports("데이터")


def test_importing_the_embedder_loads_nothing_heavy():
    program = (
        "import sys, kebab.embed.onnx_embedder, kebab.embed.install\n"
        "heavy = {'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'fastembed', 'huggingface_hub'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout == "[]\n"


@pytest.mark.weights
def test_real_weights_give_the_probe_cosine(minilm_dir):
    embedder = OnnxEmbedder(minilm_dir, MINILM)
    food = embedder.embed_query("A man is eating food.")
    bread = embedder.embed_query("A man is eating a piece of bread.")
    baby = embedder.embed_query("The girl is carrying a baby.")

    assert food @ bread == pytest.approx(0.7553, abs=0.03)
    assert food @ baby < 0.1
