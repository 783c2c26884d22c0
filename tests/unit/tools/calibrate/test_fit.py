import pytest

from kebab.search.answerability import FAIR, compute_precision, compute_probability
from tools.calibrate import fit


def test_a_logistic_regression_finds_the_sign_and_the_share():
    rows = [[1.0, value] for value in (-1.0, 1.0) for _ in range(50)]
    labels = [number < 10 for number in range(50)] + [number < 40 for number in range(50)]

    start, weight = fit.fit_logistic(rows, labels, [1.0] * 100)

    assert start == pytest.approx(0.0, abs=0.01)
    assert weight == pytest.approx(1.386, abs=0.01)


def test_a_curve_separates_the_questions_with_an_answer(cases):
    curve = fit.fit_curve(cases, fit.HYBRID, lost=0.02)

    fair: dict[str, list[bool]] = {"own": [], "related": [], "unrelated": []}
    for case in cases:
        fair[case.kind].append(compute_probability(curve, case.signals) >= FAIR)
    assert sum(fair["own"]) >= 0.97 * len(fair["own"])
    assert not any(fair["related"] + fair["unrelated"])
    assert curve.words > 0
    assert curve.cosine > 0
    assert (curve.evidence, curve.length) == (0, 0)


def test_the_share_of_lost_answers_sets_the_start(cases):
    strict, loose = (fit.fit_curve(cases, fit.HYBRID, lost=lost) for lost in (0.3, 0.0))

    assert strict.start < loose.start


def test_questions_whose_answer_was_not_found_do_not_count(make_case):
    assert not fit.is_judged(make_case(rank=None))
    assert fit.is_judged(make_case("related"))
    assert fit.is_judged(make_case(rank=3))


def test_the_precision_falls_with_a_close_rival(cases, make_case):
    curve = fit.fit_precision(cases)

    alone, close = (make_case(rival=rival).signals for rival in (0.5, 0.95))
    assert compute_precision(curve, alone) > 0.8 > compute_precision(curve, close)


def test_every_set_counts_as_much(make_case):
    cases = [make_case(rank=1), make_case(rank=1), make_case(rank=1, dataset="two")]

    assert fit.weigh_cases(cases) == [5, 5, 10]


def test_a_set_is_predicted_by_a_fit_on_the_others(cases):
    seen = []

    def learn(rest):
        seen.append({case.dataset for case in rest})
        return lambda some: [float(case.dataset == "one") for case in some]

    scores = fit.predict_left_out(cases, learn)

    assert sorted(map(sorted, seen)) == [["one"], ["two"]]
    assert scores == [float(case.dataset == "one") for case in cases]
