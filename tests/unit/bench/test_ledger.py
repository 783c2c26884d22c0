import pytest

from kebab.bench.budget import Budget, at_least_ratio, ratio
from kebab.bench.ledger import Ledger, Yardstick
from kebab.bench.race import Sample


@pytest.fixture
def ledger():
    return Ledger()


def only(ledger):
    (figure,) = ledger.figures
    return figure


def test_a_figure_has_minimum_median_and_maximum(ledger):
    ledger.add("a", "s", Sample([3.0, 1.0, 2.0, 10.0]))

    figure = only(ledger)
    assert (figure.minimum, figure.median, figure.maximum, figure.runs) == (1.0, 2.5, 10.0, 4)
    assert (figure.yardstick, figure.ratio, figure.budget, figure.within) == (None,) * 4


def test_the_ratio_is_that_of_the_medians(ledger):
    ledger.add("a", "s", Sample([1.0, 3.0, 50.0]), against=Yardstick("b", Sample([1.0, 2.0, 2.0])))

    assert (only(ledger).yardstick, only(ledger).ratio) == ("b", 1.5)


@pytest.mark.parametrize(
    ("budget", "within", "share"),
    [
        (ratio(2), True, 0.75),
        (ratio(1), False, 1.5),
        (at_least_ratio(1), True, 1 / 1.5),
        (at_least_ratio(3), False, 2),
        (Budget(3, "s"), True, 1),
        (Budget(2, "s"), False, 1.5),
    ],
    ids=str,
)
def test_a_budget_judges_the_ratio_or_the_median(ledger, budget, within, share):
    ledger.add("a", "s", Sample([3.0]), against=Yardstick("b", Sample([2.0])), budget=budget)

    assert only(ledger).within is within
    assert only(ledger).share == pytest.approx(share)


def test_without_a_yardstick_a_ratio_is_not_judged(ledger):
    broken = Yardstick("b", Sample(fault="exit status 1"))
    ledger.add("a", "s", Sample([3.0]), against=broken, budget=ratio(2))

    assert (only(ledger).ratio, only(ledger).within, only(ledger).share) == (None, None, None)


def test_a_fault_becomes_a_failed_gap(ledger):
    ledger.add("a", "s", Sample(fault="exit status 2"))

    assert ledger.figures == []
    assert [(gap.name, gap.reason, gap.failed) for gap in ledger.gaps] == [
        ("a", "exit status 2", True)
    ]


def test_what_is_left_out_is_no_failure(ledger):
    ledger.skipped("a", "no model")

    assert [gap.failed for gap in ledger.gaps] == [False]
