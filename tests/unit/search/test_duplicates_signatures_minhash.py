import random

import numpy as np
import pytest

from kebab.search import duplicates

RNG = np.random.default_rng(5)


def rows(*sets):
    """Return the signatures of sets of numbers."""
    starts = np.cumsum([0, *map(len, sets)])[:-1]
    return duplicates.compute_signatures(
        np.concatenate([np.array(one, np.uint64) for one in sets]), starts
    )


def numbers(count):
    return RNG.integers(0, 1 << 63, count, np.uint64)


def pair(likeness, size=400):
    """Return two sets of this Jaccard index."""
    shared = round(size * likeness)
    half = (size - shared) // 2
    both, left, right = numbers(shared), numbers(half), numbers(half)
    return np.concatenate([both, left]), np.concatenate([both, right])


@pytest.mark.parametrize("likeness", [0.0, 0.3, 0.7, 1.0])
def test_signatures_estimate_the_jaccard_index(likeness):
    sets = [one for _ in range(100) for one in pair(likeness)]
    pairs = np.arange(200).reshape(-1, 2)

    found = duplicates.estimate_similarities(rows(*sets), pairs)

    assert found.mean() == pytest.approx(likeness, abs=0.02)


def test_the_order_of_a_set_does_not_matter():
    one = numbers(50)

    left, right = rows(one, one[::-1])

    assert left.tolist() == right.tolist()


def test_the_signature_of_a_union_is_merged_from_its_parts():
    one, two, three = numbers(30), numbers(40), numbers(50)

    united = duplicates.merge_signatures(rows(one, two, three), [0, 2])

    assert united.tolist() == rows(np.concatenate([one, two]), three).tolist()


@pytest.mark.parametrize(("threshold", "least"), [(0.5, 0.85), (0.7, 0.93), (0.9, 0.99)])
def test_pairs_at_the_threshold_are_found(threshold, least):
    sets = [one for _ in range(200) for one in pair(threshold)]
    random.Random(1).shuffle(order := list(range(400)))
    place = {item: at for at, item in enumerate(order)}
    wanted = {tuple(sorted((place[at], place[at + 1]))) for at in range(0, 400, 2)}

    found = duplicates.find_candidate_pairs(rows(*(sets[item] for item in order)), threshold)

    assert len(wanted & set(map(tuple, found.tolist()))) >= least * len(wanted)


def test_sets_with_little_in_common_are_not_paired():
    sets = [one for _ in range(300) for one in pair(0.2)]

    assert len(duplicates.find_candidate_pairs(rows(*sets), 0.7)) == 0


def test_many_equal_sets_give_few_pairs_that_still_connect_all():
    one = numbers(20)

    found = duplicates.find_candidate_pairs(rows(*[one] * 2000), 0.7)

    assert len(found) <= 4 * 2000
    assert {(at, at + 1) for at in range(1999)} <= set(map(tuple, found.tolist()))


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_sets_have_no_pairs(count):
    assert duplicates.find_candidate_pairs(
        np.zeros((count, duplicates.SIGNATURE_SIZE), np.uint32), 0.7
    ).shape == (0, 2)


def test_similar_sets_are_found_among_many_half_similar_ones():
    shared = numbers(150)
    crowd = [np.concatenate([shared, numbers(75)]) for _ in range(600)]
    twins = [np.concatenate([one[:-6], numbers(6)]) for one in crowd[:100]]

    found = duplicates.find_candidate_pairs(rows(*crowd, *twins), 0.7)

    wanted = {(at, 600 + at) for at in range(100)}
    assert len(wanted & set(map(tuple, found.tolist()))) >= 90
    assert len(found) < 700 * 4 * 16


def test_every_bit_of_a_value_is_set_for_half_of_the_shingles():
    values = duplicates.compute_signatures(numbers(5_000), np.arange(5_000))

    shares = [float((values >> np.uint32(bit) & np.uint32(1)).mean()) for bit in range(32)]

    assert shares == pytest.approx([0.5] * 32, abs=0.02)


def test_equal_rows_are_paired_in_large_buckets_because_another_band_agrees_too():
    width, count = 4, 100
    bands = duplicates.SIGNATURE_SIZE // width
    table = np.arange(1, count * bands + 1, dtype=np.uint32).reshape(count, bands)
    row, band = np.indices(table.shape)
    table[(row + band) % 2 == 0] = 0
    table[[0, count // 2]] = 0

    found = duplicates.find_candidate_pairs(np.repeat(table, width, axis=1), 0.9)

    assert found.tolist() == [[0, count // 2]]
