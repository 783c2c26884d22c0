import math

import pytest

from kebab.evals.metrics import compute_figures, compute_hit_curve, compute_reliability
from tests.fakes.outcomes import nothing, outcome


def value(outcomes, name):
    (found,) = [one for one in compute_figures(outcomes) if one.metric == name]
    return found.value


@pytest.fixture
def mixed():
    """Ranks 1, 2, 7, none; and two questions that nothing answers, one of them refused."""
    return [
        outcome("a", 1, score=0.95),
        outcome("b", 2, score=0.55),
        outcome("c", 7, score=0.55, confidence="weak", refused=True),
        outcome("d", None, hits=0, score=None, confidence=None, refused=True, ndcg=0.0),
        nothing("e"),
        nothing("f", hits=3, score=0.3, confidence="fair", refused=False),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hit@1", 1 / 4),
        ("hit@5", 2 / 4),
        ("hit@10", 3 / 4),
        ("mrr@10", (1 + 1 / 2 + 1 / 7) / 4),
        ("ndcg@10", (1 + 1 / 2 + 1 / 7) / 4),
        ("empty_rate", 1 / 4),
        ("refusal_precision", 1 / 3),
        ("refusal_recall", 1 / 2),
        ("false_refusal_rate", 2 / 4),
        ("median_ms", 2.0),
        ("p95_ms", 2.0),
    ],
)
def test_each_figure_has_its_value(mixed, name, expected):
    assert value(mixed, name) == pytest.approx(expected)


def test_a_relevant_hit_below_rank_10_has_no_gain():
    deep = [outcome(rank=11)]

    assert value(deep, "hit@10") == value(deep, "mrr@10") == 0
    assert compute_hit_curve(deep, 12)[-2:] == [1, 1]


def test_every_figure_lies_within_its_interval(mixed):
    for one in compute_figures(mixed):
        assert None not in (one.low, one.value, one.high)
        assert (one.low or 0) <= (one.value or 0) <= (one.high or 0)


def test_refusal_figures_are_undefined_without_unanswerable_questions():
    assert value([outcome()], "refusal_precision") is None
    assert value([outcome()], "refusal_recall") is None
    assert value([outcome()], "false_refusal_rate") == 0


def test_without_answerable_questions_hit_rates_are_undefined():
    assert value([nothing("a")], "hit@1") is None
    assert value([nothing("a")], "refusal_recall") == 1
    assert compute_hit_curve([nothing("a")], 10) == []


def test_the_curve_grows_with_the_depth(mixed):
    assert compute_hit_curve(mixed, 10) == [0.25, *[0.5] * 5, *[0.75] * 4]


def test_first_hits_are_put_in_ten_bins_by_their_score(mixed):
    bins = compute_reliability(mixed)

    assert [one.count for one in bins] == [0, 0, 0, 1, 0, 2, 0, 0, 0, 1]
    assert bins[5].mean_score == pytest.approx(0.55)
    assert bins[5].right == 0
    assert (bins[9].start, bins[9].end, bins[9].right) == (0.9, 1.0, 1)
    assert bins[0].mean_score is bins[0].right is None


def test_the_highest_score_is_in_the_last_bin():
    assert compute_reliability([outcome(score=1.0)])[-1].count == 1


def test_the_calibration_error_weighs_bins_by_their_size(mixed):
    # Of four first hits: one 0.05 from right, two 0.55 from wrong, one 0.3 from wrong.
    expected = (0.05 + 2 * 0.55 + 0.3) / 4

    assert math.isclose(value(mixed, "calibration_error"), expected)
