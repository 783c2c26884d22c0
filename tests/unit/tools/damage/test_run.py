"""The short form of `python -m tools.damage`: one kind of each code path, and a few flips."""

import pytest

from tools.damage.kinds import KINDS
from tools.damage.run import choose_short, flip_bit, run_kind
from tools.damage.stage import Stage

pytestmark = pytest.mark.xdist_group("damage")
SHORT = list(choose_short(KINDS))
SEEDS = (2, 31)
"""The first hits a table of vectors, the second the id of a document."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("damage"))
    with stage.enter():
        stage.build(short=True)
        yield stage


@pytest.mark.parametrize("kind", SHORT, ids=[kind.name for kind in SHORT])
def test_a_kind_of_damage_is_found_and_repaired(stage, kind):
    assert run_kind(stage, kind, short=True) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flipped_bit_ends_equal_or_in_words(stage, seed):
    assert flip_bit(stage, seed) == []
