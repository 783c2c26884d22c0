import random

import pytest

from kebab.core import ids
from kebab.core.ids import lacking, repeated, rising


def test_keys_rise_and_keep_their_repetitions():
    assert rising([5, -1, 3, 5]).tolist() == [-1, 3, 5, 5]


@pytest.mark.parametrize("part", [1, 2, 3, 100])
def test_what_is_not_held_is_lacking(monkeypatch, part):
    monkeypatch.setattr(ids, "_PART", part)
    dice = random.Random(part)
    for _ in range(50):
        wanted = dice.choices(range(20), k=dice.randint(0, 15))
        held = dice.choices(range(20), k=dice.randint(0, 15))
        expected = sorted(key for key in wanted if key not in held)
        assert lacking(rising(wanted), rising(held)) == expected


def test_repeated_keys_are_told_once():
    assert repeated(rising([3, 1, 3, 2, 1, 3])) == {1, 3}
    assert repeated(rising([])) == set()
