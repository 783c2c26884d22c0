import numpy as np
import pytest

from kebab.core.ids import Key
from kebab.store.lance.vector_file import TOMBSTONE
from kebab.store.lance.vectors import ExactIndex


def rows(count, dimension=16, seed=0):
    matrix = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def exhaustive(keys, matrix, query, limit, allowed):
    scored = [
        (-round(float(np.dot(vector.astype(np.float64), query.astype(np.float64))), 5), key)
        for key, vector in zip(keys.tolist(), matrix, strict=True)
        if allowed is None or key in allowed
    ]
    return [key for _, key in sorted(scored)[:limit]]


@pytest.mark.parametrize("allowed", [None, range(0, 600, 2), range(0, 600, 37), [5], []])
@pytest.mark.parametrize("limit", [1, 10, 1_000])
def test_results_equal_an_exhaustive_scan(allowed, limit):
    matrix = rows(600)
    keys = np.random.default_rng(1).permutation(600).astype(np.int64)
    query = rows(1, seed=2)[0]
    index = ExactIndex(keys, matrix)
    found = [key for key, _ in index.find_nearest(query, limit, allowed)]
    assert found == exhaustive(keys, matrix, query, limit, allowed)


def test_tombstones_are_no_results():
    matrix = rows(4)
    index = ExactIndex(np.array([1, TOMBSTONE, 3, TOMBSTONE]), matrix)
    assert {key for key, _ in index.find_nearest(matrix[1], 9, None)} == {1, 3}
    assert index.count() == 2


def test_of_a_repeated_key_the_last_row_counts():
    matrix = rows(3)
    index = ExactIndex(np.array([7, 8, 7]), matrix)
    assert np.array_equal(index.get([Key(7)])[Key(7)], matrix[2])
    assert index.count() == 2


def test_equal_vectors_tie_by_key_however_many_rows_are_compared():
    matrix = np.repeat(rows(1, 384), 1_001, axis=0)
    index = ExactIndex(np.arange(1_001)[::-1].copy(), matrix)
    expected = [0, 1, 2, 3, 4]
    assert [key for key, _ in index.find_nearest(rows(1, 384, 3)[0], 5, None)] == expected
    assert [
        key for key, _ in index.find_nearest(rows(1, 384, 3)[0], 5, [Key(key) for key in range(9)])
    ] == expected


def test_cosines_stay_between_minus_one_and_one():
    matrix = rows(1) * np.float32(1.0000005)
    index = ExactIndex(np.array([1]), matrix)
    assert index.compute_cosines(matrix[0], [Key(1), Key(2)]) == {1: 1.0}


def test_vectors_are_copies_and_survive_the_file():
    matrix = rows(2)
    vector = ExactIndex(np.array([1, 2]), matrix).get([Key(2)])[Key(2)]
    vector[0] = 5
    assert matrix[1, 0] != 5


def test_the_scores_of_a_search_are_reused_for_cosines():
    matrix = rows(500)
    index = ExactIndex(np.arange(500), matrix)
    one, other = rows(2, seed=4)
    near = dict(index.find_nearest(one, 500))
    assert index.compute_cosines(other, [Key(3)]) == ExactIndex(
        np.arange(500), matrix
    ).compute_cosines(other, [Key(3)])
    assert index.compute_cosines(one, [Key(3), Key(9)]) == {
        key: near[key] for key in (Key(3), Key(9))
    }
