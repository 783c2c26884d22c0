"""The conformance suite of the port `Embedder`.

The fake, every model of the registry and both kinds of servers run it. A server counts no tokens
exactly, and gives no vectors of tokens.
"""

import random
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from kebab.app.model_adapters import Embedders
from kebab.config.settings import Embedding, Models, Settings
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import MODELS
from tests.fakes import tiny_model
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.embedding_server import FakeEmbeddingServer, serve_embeddings

CHANCE = random.Random(3)
TEXTS = [
    "a man is eating food",
    "",
    "the cat sleeps on the mat .",
    *(" ".join(CHANCE.choices(tiny_model.WORDS[4:], k=size)) for size in (1, 3, 9, 40, 90, 200)),
    "unknown wörter und \ud800 loose surrogates",
]


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


WIDE = replace(MODELS[0], key="wide", version="test-wide-768-v1", dimension=768)
"""A model of another dimension than those of the registry."""


def build_server_embedder(url, provider):
    settings = Settings(
        models=Models(
            embedding=Embedding(
                provider=provider,
                model="nomic-embed-text",
                endpoint=url if provider == "ollama" else f"{url}/v1",
            )
        )
    )
    embedder = Embedders(settings, Path()).server
    assert embedder is not None
    return embedder


@pytest.fixture(
    scope="module",
    params=[None, *MODELS, WIDE, "ollama", "openai"],
    ids=lambda one: one if isinstance(one, str) else (one and one.key.split("/")[-1]) or "hashing",
)
def embedder(request, models_dir):
    """The fake, an ONNX embedder with random weights for each model, and those of servers."""
    if request.param is None:
        yield HashingEmbedder()
    elif isinstance(request.param, str):
        with serve_embeddings(FakeEmbeddingServer()) as server:
            yield build_server_embedder(server.url, request.param)
    else:
        directory = tiny_model.install_model(request.param, models_dir)
        yield OnnxEmbedder(directory, request.param, threads=2)


@pytest.fixture
def token_embedder(embedder):
    """Those that have a tokenizer."""
    if not embedder.profile.has_tokens:
        pytest.skip("a server gives no tokens")
    return embedder


def test_the_facts_are_those_of_the_registry():
    for model in MODELS:
        assert f"-{model.dimension}-" in model.version
        assert 0 < model.window < model.positions
    assert len({model.version for model in MODELS}) == len(MODELS)


def vectors(embedder, texts):
    found = np.full((len(texts), embedder.profile.dimension), np.nan, np.float32)
    for indexes, matrix in embedder.embed_passages(texts):
        assert matrix.shape == (len(indexes), embedder.profile.dimension)
        assert np.isnan(found[indexes]).all(), "an index came twice"
        found[indexes] = matrix
    return found


def test_the_version_names_the_dimension(embedder):
    assert f"-{embedder.profile.dimension}-" in embedder.profile.version


def test_every_text_gets_one_unit_vector(embedder):
    found = vectors(embedder, TEXTS)

    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)


def test_vectors_are_float32(embedder):
    assert embedder.embed_query("a man").dtype == np.float32
    assert all(matrix.dtype == np.float32 for _, matrix in embedder.embed_passages(["a man"]))


def test_a_query_is_one_unit_vector(embedder):
    found = embedder.embed_query("a man is eating food")

    assert found.shape == (embedder.profile.dimension,)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)


def test_no_text_yields_nothing(embedder):
    assert list(embedder.embed_passages([])) == []
    assert embedder.count_tokens([]) == []


def test_a_vector_depends_on_its_text_alone(embedder):
    together = vectors(embedder, TEXTS)
    reversed_ = vectors(embedder, TEXTS[::-1])[::-1]
    alone = np.vstack([vectors(embedder, [text]) for text in TEXTS])

    assert np.array_equal(together, reversed_)
    assert np.array_equal(together, alone)


def test_more_than_one_batch_loses_no_text(embedder):
    many = [f"{TEXTS[number % len(TEXTS)]} {number}" for number in range(70)]

    assert not np.isnan(vectors(embedder, many)).any()


def test_different_texts_get_different_vectors(embedder):
    first, second = vectors(embedder, ["blue sky", "dog runs in the park"])

    assert first @ second < 0.999


def test_a_text_beyond_the_window_has_a_vector(embedder):
    (found,) = vectors(embedder, ["the cat sleeps on the mat " * embedder.profile.window])

    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)


def test_tokens_are_counted_without_special_ones(token_embedder):
    assert token_embedder.count_tokens(["", "cat", "the cat sleeps"]) == [0, 1, 3]


def test_counting_goes_beyond_the_window(token_embedder):
    assert token_embedder.count_tokens(["cat " * 2000]) == [2000]


def test_words_have_as_many_tokens_alone_as_in_a_text(token_embedder):
    for text in TEXTS:
        words = f"  {text}\n{text}".replace("\n", " ").split(" ")
        assert (
            sum(token_embedder.count_tokens(words))
            == token_embedder.count_tokens([f"  {text}\n{text}"])[0]
        )


def test_every_token_has_a_unit_vector_and_a_span(token_embedder):
    for text, found in zip(TEXTS, token_embedder.embed_tokens(TEXTS), strict=True):
        count = min(*token_embedder.count_tokens([text]), token_embedder.profile.window)
        assert found.vectors.shape == (count, token_embedder.profile.dimension)
        assert found.vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-5)
        assert all(0 <= start < end <= len(text) for start, end in found.spans)
        assert len(found.spans) == count


def test_the_span_of_a_token_is_its_place_in_the_text(token_embedder):
    (found,) = token_embedder.embed_tokens(["the cat sleeps"])

    assert list(found.spans) == [(0, 3), (4, 7), (8, 14)]


def test_the_tokens_of_a_query_are_those_of_the_text(token_embedder):
    (found,) = token_embedder.embed_tokens(["the cat sleeps"], as_query=True)

    assert list(found.spans) == [(0, 3), (4, 7), (8, 14)]


def test_token_vectors_depend_on_their_text_alone(token_embedder):
    many = [f"{text} {number}" for number, text in enumerate(TEXTS * 5)]
    together = token_embedder.embed_tokens(many)

    assert len(together) == len(many)
    for text, found in zip(many[::9], together[::9], strict=True):
        (alone,) = token_embedder.embed_tokens([text])
        assert np.array_equal(alone.vectors, found.vectors)


def test_of_a_long_text_the_first_window_has_token_vectors(token_embedder):
    (found,) = token_embedder.embed_tokens(["cat " * 5000])

    assert token_embedder.profile.window <= len(found.spans) <= token_embedder.profile.window + 6
    assert found.spans[0] == (0, 3)


def test_no_text_has_no_token_vectors(token_embedder):
    assert token_embedder.embed_tokens([]) == []
