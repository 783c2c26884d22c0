import pytest

from kebab.bench.budget import Budget, at_least_ratio, ratio


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (ratio(2.5), "≤ 2.5 \N{MULTIPLICATION SIGN}"),
        (at_least_ratio(4), "≥ 4 \N{MULTIPLICATION SIGN}"),
        (Budget(700, "MB"), "≤ 700 MB"),
    ],
)
def test_a_budget_reads_as_a_bound(budget, text):
    assert str(budget) == text


def test_the_share_of_an_upper_bound_grows_with_the_value():
    assert Budget(10, "s").share(5) == 0.5
    assert Budget(10, "s").share(20) == 2


def test_the_share_of_a_lower_bound_falls_with_the_value():
    assert at_least_ratio(4).share(8) == 0.5
    assert at_least_ratio(4).share(2) == 2
    assert at_least_ratio(4).share(0) == float("inf")
