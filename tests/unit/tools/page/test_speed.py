import pytest

pytest.importorskip("selenium", reason="the extra `dev` has the driver of the browser")

from tools.page.speed import describe, measure_size

_MOST_BYTES = 150_000


def test_a_figure_has_its_median_and_its_range():
    assert describe("paint", [3.0, 1.0, 20.0]).split(None, 1)[1].split() == [
        *("3.0", "ms", "(1.0", "to", "20.0,", "3", "turns)")
    ]


def test_the_assets_stay_small():
    assert 50_000 < measure_size() <= _MOST_BYTES
