import random

import pytest

from kebab.core import ids
from kebab.core.ids import find_missing_keys, find_repeated_keys, sort_keys


def test_keys_are_sorted_with_repetitions():
    assert sort_keys([5, -1, 3, 5]).tolist() == [-1, 3, 5, 5]


@pytest.mark.parametrize("part", [1, 2, 3, 100])
def test_keys_that_are_not_held_are_missing(monkeypatch, part):
    monkeypatch.setattr(ids, "_PART", part)
    dice = random.Random(part)
    for _ in range(50):
        wanted = dice.choices(range(20), k=dice.randint(0, 15))
        held = dice.choices(range(20), k=dice.randint(0, 15))
        expected = sorted(key for key in wanted if key not in held)
        assert find_missing_keys(sort_keys(wanted), sort_keys(held)) == expected


def test_repeated_keys_are_returned_once():
    assert find_repeated_keys(sort_keys([3, 1, 3, 2, 1, 3])) == {1, 3}
    assert find_repeated_keys(sort_keys([])) == set()
