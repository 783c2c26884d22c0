import pytest

from kebab.bench.sandbox import Budget, limit_ratio, require_ratio


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (limit_ratio(2.5), "≤ 2.5 \N{MULTIPLICATION SIGN}"),
        (require_ratio(4), "≥ 4 \N{MULTIPLICATION SIGN}"),
        (Budget(700, "MB"), "≤ 700 MB"),
    ],
)
def test_a_budget_is_formatted_as_a_bound(budget, text):
    assert str(budget) == text


def test_the_share_of_an_upper_bound_grows_with_the_value():
    assert Budget(10, "s").compute_share(5) == 0.5
    assert Budget(10, "s").compute_share(20) == 2


def test_the_share_of_a_lower_bound_falls_with_the_value():
    assert require_ratio(4).compute_share(8) == 0.5
    assert require_ratio(4).compute_share(2) == 2
    assert require_ratio(4).compute_share(0) == float("inf")
