import pytest

from kebab.evals.metrics import (
    Estimate,
    compute_p_value,
    estimate_mean,
    estimate_mean_gap,
    estimate_quantile,
    estimate_ratio,
)


def test_the_interval_of_a_share_is_about_that_of_its_normal_distribution():
    found = estimate_mean([1.0] * 300 + [0.0] * 100)

    half = 1.96 * (0.75 * 0.25 / 400) ** 0.5
    assert (found.value, found.count) == (0.75, 400)
    assert found.low == pytest.approx(0.75 - half, abs=0.01)
    assert found.high == pytest.approx(0.75 + half, abs=0.01)


def test_the_same_values_always_give_the_same_interval():
    values = [0.1, 0.9, 0.4, 0.4]

    assert estimate_mean(values) == estimate_mean(values)


def test_equal_values_have_an_interval_of_one_value():
    assert estimate_mean([1.0] * 5) == Estimate(1.0, 1.0, 1.0, 5)


def test_no_values_give_no_estimate():
    assert (
        estimate_mean([])
        == estimate_ratio([])
        == estimate_quantile([], 0.5)
        == estimate_mean_gap([], 10)
        == Estimate()
    )


def test_a_ratio_is_one_of_sums():
    found = estimate_ratio([(1, 1), (0, 1), (0, 0), (1, 1)])

    assert found.value == pytest.approx(2 / 3)
    value, low, high = found.require_values()
    assert low < value < high


def test_a_ratio_over_nothing_is_undefined():
    assert estimate_ratio([(0, 0), (0, 0)]) == Estimate()


def test_samples_without_a_value_are_left_out():
    found = estimate_ratio([(1, 1), *[(0, 0)] * 9])

    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_quantiles_are_of_the_values():
    assert estimate_quantile([1.0, 2.0, 3.0], 0.5).value == 2
    assert estimate_quantile([float(one) for one in range(101)], 0.95).value == pytest.approx(95)


def test_gaps_cancel_within_a_bin_only():
    assert estimate_mean_gap([(0, 0.5), (0, -0.5)], 10).value == 0
    assert estimate_mean_gap([(0, 0.5), (1, -0.5)], 10).value == pytest.approx(0.5)


def test_large_samples_are_drawn_in_parts(monkeypatch):
    values = [float(one % 3) for one in range(50)]
    whole = estimate_mean(values)
    monkeypatch.setattr("kebab.evals.metrics._CELLS", 120)

    assert estimate_mean(values) == whole


def test_one_sided_differences_are_significant_and_balanced_ones_are_not():
    assert compute_p_value([0.5] * 20) < 0.001
    assert compute_p_value([0.5, -0.5] * 10) == 1
    assert compute_p_value([]) == compute_p_value([0.0] * 5) == 1


def test_few_differences_are_not_significant():
    # Of eight signs of three differences two are as extreme as all alike.
    assert compute_p_value([1.0, 1.0, 1.0, 0.0]) == pytest.approx(0.25, abs=0.02)


def test_the_test_has_two_sides():
    differences = [0.3, 0.1, -0.2, 0.5, 0.4, 0.2]

    assert compute_p_value(differences) == pytest.approx(
        compute_p_value([-one for one in differences]), abs=1e-9
    )
