import pytest

from kebab.bench.sandbox import Budget, Results, Sample, Yardstick, limit_ratio, require_ratio


@pytest.fixture
def results():
    return Results()


def only(results):
    (figure,) = results.figures
    return figure


def test_a_figure_has_minimum_median_and_maximum(results):
    results.add_figure("a", "s", Sample([3.0, 1.0, 2.0, 10.0]))

    figure = only(results)
    assert (figure.minimum, figure.median, figure.maximum, figure.runs) == (1.0, 2.5, 10.0, 4)
    assert (figure.yardstick, figure.ratio, figure.budget, figure.within) == (None,) * 4


def test_the_ratio_is_that_of_the_medians(results):
    results.add_figure(
        "a", "s", Sample([1.0, 3.0, 50.0]), against=Yardstick("b", Sample([1.0, 2.0, 2.0]))
    )

    assert (only(results).yardstick, only(results).ratio) == ("b", 1.5)


@pytest.mark.parametrize(
    ("budget", "within", "share"),
    [
        (limit_ratio(2), True, 0.75),
        (limit_ratio(1), False, 1.5),
        (require_ratio(1), True, 1 / 1.5),
        (require_ratio(3), False, 2),
        (Budget(3, "s"), True, 1),
        (Budget(2, "s"), False, 1.5),
    ],
)
def test_a_budget_judges_the_ratio_or_the_median(results, budget, within, share):
    results.add_figure(
        "a", "s", Sample([3.0]), against=Yardstick("b", Sample([2.0])), budget=budget
    )

    assert only(results).within is within
    assert only(results).share == pytest.approx(share)


def test_without_a_yardstick_a_ratio_is_not_judged(results):
    broken = Yardstick("b", Sample(fault="exit status 1"))
    results.add_figure("a", "s", Sample([3.0]), against=broken, budget=limit_ratio(2))

    assert (only(results).ratio, only(results).within, only(results).share) == (None, None, None)


def test_a_fault_becomes_a_failed_gap(results):
    results.add_figure("a", "s", Sample(fault="exit status 2"))

    assert results.figures == []
    assert [(gap.name, gap.reason, gap.failed) for gap in results.gaps] == [
        ("a", "exit status 2", True)
    ]


def test_a_skipped_measurement_is_no_failure(results):
    results.add_skipped("a", "no model")

    assert [gap.failed for gap in results.gaps] == [False]
