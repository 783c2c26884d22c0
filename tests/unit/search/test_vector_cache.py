import numpy as np

from kebab.search.vector import embed_query
from tests.fakes.embedder import HashingEmbedder


class _Memory:
    def __init__(self):
        self.answers = {}

    def get(self, namespace, question, revision):
        return self.answers.get((namespace, question, revision))

    def put(self, namespace, question, revision, answer):
        self.answers[namespace, question, revision] = answer


def test_a_query_is_embedded_once():
    embedder, memory = HashingEmbedder(), _Memory()

    first, cached = embed_query(memory, embedder, "oil")
    again, cached_again = embed_query(memory, embedder, "oil")

    assert (cached, cached_again) == (False, True)
    assert embedder.embedded == ["oil"]
    np.testing.assert_array_equal(first, again)


def test_another_model_has_other_vectors():
    memory = _Memory()
    embed_query(memory, HashingEmbedder(version="a"), "oil")

    _, from_cache = embed_query(memory, HashingEmbedder(version="b"), "oil")

    assert not from_cache


def test_cached_bytes_of_another_length_are_ignored():
    memory, embedder = _Memory(), HashingEmbedder(version="a")
    memory.put("query_vector:a", "oil", 0, b"123")

    _, from_cache = embed_query(memory, embedder, "oil")

    assert not from_cache


def test_without_a_cache_every_query_is_embedded():
    embedder = HashingEmbedder()

    embed_query(None, embedder, "oil")
    embed_query(None, embedder, "oil")

    assert embedder.embedded == ["oil", "oil"]
