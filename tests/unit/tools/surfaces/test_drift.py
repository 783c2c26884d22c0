"""A series that grows is told from one that is noisy, that steps once, or that falls."""

import random

import pytest

from tools.surfaces.drift import find_trend, find_trends

CHANCE = random.Random(3)
NOISE = [CHANCE.gauss(0, 2) for _ in range(52)]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        pytest.param([100 + one for one in NOISE], "steady", id="noise"),
        pytest.param([100 + at / 2 + one for at, one in enumerate(NOISE)], "grows", id="leak"),
        pytest.param([9 + at // 13 for at in range(52)], "grows", id="descriptors"),
        pytest.param([100 - at / 2 + one for at, one in enumerate(NOISE)], "falls", id="falls"),
        pytest.param([100 + min(at, 26) * 2 for at in range(52)], "levelled", id="one_step"),
        pytest.param([100 + at / 100 for at in range(52)], "steady", id="too_little"),
        pytest.param([100.0] * 30 + [900.0] + [100.0] * 21, "steady", id="outlier"),
        pytest.param([1.0] * 8, "short", id="short"),
        pytest.param([], "short", id="empty"),
    ],
)
def test_the_verdict_is_about_growth_that_goes_on(values, verdict):
    assert find_trend("http MB", values).verdict == verdict


def test_the_warm_up_is_left_out_and_missing_counts_are_zero():
    rows = [{"http ms": 900.0}, *({"http ms": 5.0, "files": float(at)} for at in range(9)), {}]

    files, speed = find_trends(rows, warm_up=1)

    assert (files.name, files.first, files.last) == ("files", 1.5, 7.0)
    assert (speed.name, speed.first, speed.last, speed.verdict) == ("http ms", 5.0, 5.0, "steady")


def test_a_series_that_follows_the_load_of_the_machine_is_told():
    rows = [{"http ms": 2.0 * at, "http MB": 5.0, "machine load": float(at)} for at in range(12)]

    memory, speed, load = find_trends(rows, warm_up=0)

    assert [round(one.follows, 6) for one in (memory, speed, load)] == [0.0, 1.0, 1.0]
