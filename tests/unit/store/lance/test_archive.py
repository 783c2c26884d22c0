from array import array

import numpy as np
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance.archive import build_vectors, compute_row_bytes, pack_vectors
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.vectors import LanceVectors

KEYS = array("q", [2, 5, 9])


@pytest.fixture
def packed(tmp_path, monkeypatch):
    monkeypatch.setattr("kebab.store.lance.archive._ROWS", 2)
    matrix = np.eye(4, dtype=np.float32)
    index = ExactIndex(np.array([1, 2, 5, 9]), [matrix])
    path = tmp_path / "vectors.f32"
    path.write_bytes(b"".join(pack_vectors(index, KEYS)))
    return path


def build(packed, tmp_path, keys):
    vectors = LanceVectors(tmp_path / "data", "fastembed-x-4-v1", 4)
    chunks = [(key, f"c{key}", f"d{key}") for key in keys]
    return vectors, sum(build_vectors(packed, vectors, 4, chunks, packed))


def test_packed_vectors_are_those_of_the_keys_in_their_order(packed, tmp_path):
    assert packed.stat().st_size == 3 * compute_row_bytes(4)
    vectors, rows = build(packed, tmp_path, KEYS)
    assert rows == 3
    assert vectors.list_keys() == KEYS
    assert vectors.get([5])[5].tolist() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("keys", [[2, 5], [2, 5, 9, 11], [2, 5, 8]])
def test_vectors_of_other_passages_are_refused(packed, tmp_path, keys):
    with pytest.raises(StoreCorrupt, match="other passages"):
        build(packed, tmp_path, keys)


@pytest.mark.parametrize("value", [np.nan, 2.0])
def test_a_vector_of_another_length_is_refused(packed, tmp_path, value):
    data = bytearray(packed.read_bytes())
    data[8:12] = np.float32(value).tobytes()
    packed.write_bytes(data)
    with pytest.raises(StoreCorrupt, match="length"):
        build(packed, tmp_path, KEYS)
