import random

import numpy as np
import pytest

from kebab.embed.catalogue import FastembedReference, list_catalogue
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import E5_SMALL, MINILM, find_named
from tests.fakes import tiny_model

BGE = find_named("BAAI/bge-small-en-v1.5", list_catalogue())
assert BGE is not None
CHANCE = random.Random(5)
TEXTS = [" ".join(CHANCE.choices(tiny_model.WORDS[4:], k=size)) for size in (1, 2, 5, 17, 60, 200)]


def hot(directory, model, texts):
    return np.vstack([matrix for _, matrix in OnnxEmbedder(directory, model).embed_passages(texts)])


@pytest.mark.parametrize("model", [MINILM, E5_SMALL, BGE], ids=["minilm", "e5", "bge"])
@pytest.mark.parametrize("batch", [1, 256])
def test_the_hot_path_equals_fastembed(tmp_path, model, batch):
    directory = tiny_model.install_model(model, tmp_path)

    expected = FastembedReference(directory, model, threads=1).embed_passages(TEXTS, batch)

    assert np.abs(hot(directory, model, TEXTS) - expected).max() < 1e-5


@pytest.mark.weights
def test_the_hot_path_equals_fastembed_on_real_weights(minilm_dir):
    texts = [
        "How do I restore a backup?",
        "Köln liegt am Rhein. " * 9,
        "A knowledge base keeps notes; a search finds the passage.",
        "kubectl apply -f deployment.yaml && echo done " * 12,
    ]

    expected = FastembedReference(minilm_dir, MINILM, threads=1).embed_passages(texts, 1)

    assert np.abs(hot(minilm_dir, MINILM, texts) - expected).max() < 1e-5


def test_a_model_can_be_loaded_twice(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)

    first, second = (
        FastembedReference(directory, MINILM, threads=1).embed_passages(["cat"]) for _ in range(2)
    )

    assert np.array_equal(first, second)
