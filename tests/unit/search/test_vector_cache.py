import numpy as np

from kebab.search.vector import QueryVectorCache
from tests.fakes.embedder import HashingEmbedder


class _Memory:
    def __init__(self):
        self.answers = {}

    def get(self, namespace, question, revision):
        return self.answers.get((namespace, question, revision))

    def put(self, namespace, question, revision, answer):
        self.answers[namespace, question, revision] = answer


def test_a_question_is_embedded_once():
    embedder, vectors = HashingEmbedder(), QueryVectorCache(_Memory())

    first, remembered = vectors.embed(embedder, "oil")
    again, known = vectors.embed(embedder, "oil")

    assert (remembered, known) == (False, True)
    assert embedder.embedded == ["oil"]
    np.testing.assert_array_equal(first, again)


def test_another_model_has_other_vectors():
    memory = _Memory()
    QueryVectorCache(memory).embed(HashingEmbedder(version="a"), "oil")

    _, remembered = QueryVectorCache(memory).embed(HashingEmbedder(version="b"), "oil")

    assert not remembered


def test_bytes_of_another_length_are_no_vector():
    memory, embedder = _Memory(), HashingEmbedder(version="a")
    memory.put("query_vector:a", "oil", 0, b"123")

    _, remembered = QueryVectorCache(memory).embed(embedder, "oil")

    assert not remembered


def test_without_a_cache_every_question_is_embedded():
    embedder, vectors = HashingEmbedder(), QueryVectorCache(None)

    vectors.embed(embedder, "oil")
    vectors.embed(embedder, "oil")

    assert embedder.embedded == ["oil", "oil"]
