import numpy as np
import pytest

from tools.bench.synthetic_vectors import SyntheticEmbedder


def test_a_text_always_has_the_same_unit_vector():
    embedder = SyntheticEmbedder("v")
    (_, rows), = embedder.embed_passages(["a", "b", "a"])  # fmt: skip

    assert np.array_equal(rows[0], rows[2])
    assert not np.array_equal(rows[0], rows[1])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)
    assert np.array_equal(rows[1], embedder.embed_query("b"))


def test_every_text_is_embedded_once():
    texts = [str(number) for number in range(2500)]

    found = [at for indexes, _ in SyntheticEmbedder("v").embed_passages(texts) for at in indexes]

    assert found == list(range(2500))


def test_its_version_is_the_one_it_stands_in_for():
    assert SyntheticEmbedder("fastembed-minilml6-384-v1").version == "fastembed-minilml6-384-v1"


def test_a_text_is_one_token():
    (found,) = SyntheticEmbedder("v").embed_tokens(["a b"])

    assert found.vectors.shape == (1, 384)
    assert found.spans == [(0, 3)]
