import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.errors.catalog import StoreCorrupt
from kebab.store.lance import remote
from kebab.store.lance.exact_index import ExactIndex
from kebab.store.lance.remote import RemoteVectors

COUNT, DIMENSION, VERSION = 3_000, 64, "fastembed-x-64-v1"


class Rows:
    """The rows of a store; counts those that are read."""

    def __init__(self, keys, vectors):
        dtype = np.dtype([("key", "<i8"), ("vector", "<f4", (DIMENSION,))])
        self.records = np.empty(len(keys), dtype)
        self.records["key"], self.records["vector"] = keys, vectors
        self.read = 0

    def __call__(self, positions):
        self.read += len(positions)
        return [self.records[one].tobytes() for one in positions]


@pytest.fixture
def made(tmp_path):
    random = np.random.default_rng(1)
    vectors = random.standard_normal((COUNT, DIMENSION)) + 1.5
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    keys = np.arange(COUNT) * 2 + 1
    exact, rows = ExactIndex(keys, [vectors]), Rows(keys, vectors)
    exact.write_binary(tmp_path / "signs")
    found = RemoteVectors(tmp_path, VERSION, DIMENSION)
    found.mount(tmp_path / "signs", rows)
    return exact, found.load_index(), rows, vectors


def test_the_nearest_are_exact_and_few_vectors_are_read(made):
    exact, index, rows, vectors = made
    query = vectors[77]
    best = index.find_nearest(query, 1_000)

    assert best[:5] == exact.find_nearest(query, 5)
    assert len(best) == 1_000
    assert rows.read == remote.EXACT
    beyond = dict(best[remote.EXACT :])
    true = exact.compute_cosines(query, beyond)
    assert max(abs(beyond[key] - true[key]) for key in beyond) < 0.15
    assert len(index.find_nearest(query, 10)) == 10
    assert rows.read == remote.EXACT


def test_only_allowed_passages_are_compared(made):
    exact, index, rows, vectors = made
    allowed = [Key(key) for key in range(1, 41)]

    assert index.find_nearest(vectors[5], 30, allowed) == exact.find_nearest(
        vectors[5], 30, allowed
    )
    assert rows.read == 20


def test_the_first_of_given_passages_are_exact(made):
    exact, index, rows, vectors = made
    keys = [Key(key) for key in exact.get([Key(one) for one in range(COUNT, 0, -1)])]
    cosines = index.compute_cosines(vectors[3], keys)
    first = keys[: remote.EXACT]

    assert cosines.keys() == {*keys}
    assert {key: cosines[key] for key in first} == exact.compute_cosines(vectors[3], first)
    assert rows.read == remote.EXACT
    assert index.compute_cosines(vectors[3], [Key(2)]) == {}


def test_the_background_is_that_of_the_vectors(made):
    exact, index, rows, vectors = made
    query = vectors[9]
    found, true = index.measure_background(query), exact.measure_background(query)

    assert found.size == COUNT
    assert found.mean == pytest.approx(true.mean, abs=0.01)
    assert found.deviation == pytest.approx(true.deviation, rel=0.25)
    assert rows.read == 0


def test_stored_vectors_are_read_once(made):
    _, index, rows, vectors = made
    assert index.count() == COUNT
    for _ in range(2):
        (found,) = index.get([Key(21)]).values()
        assert np.array_equal(found, vectors[10])
    assert rows.read == 1


def test_vectors_of_other_passages_are_refused(made):
    _, index, rows, _ = made
    rows.records["key"][4] = 99_999
    with pytest.raises(StoreCorrupt, match="other passages"):
        index.get([Key(9)])


def test_without_vectors_there_is_no_index_and_one_of_another_model_is_refused(tmp_path):
    vectors = RemoteVectors(tmp_path, VERSION, DIMENSION)
    vectors.mount(tmp_path / "signs", lambda _: [])
    assert vectors.load_index() is None
    (tmp_path / "signs").write_bytes(b"something else")
    with pytest.raises(StoreCorrupt):
        vectors.load_index()
