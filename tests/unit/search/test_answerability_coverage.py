import pytest

from kebab.search.answerability import compute_coverage, weigh_keywords


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"oil": 2.0}, {"oil": 2.0}),
        ({"배추": 2.0, "얼마": 2.0, "나요": 2.0}, {"배추": 2.0}),
        ({"大仏": 2.0, "です": 2.0, "たち": 2.0}, {"大仏": 2.0, "たち": 0.6}),
        ({"什么": 2.0}, {"什么": 2.0}),
        ({}, {}),
    ],
)
def test_question_words_have_no_weight_beside_others(asked, expected):
    assert weigh_keywords(asked) == pytest.approx(expected)


def test_coverage_counts_words_that_occur_nowhere():
    assert compute_coverage({"oil": 3.0, "embargo": 1.0}, {"oil"}) == pytest.approx(0.75)


def test_coverage_does_not_require_all_bigrams():
    weights = {"배추": 1.0, "추는": 1.0, "오래": 1.0}
    assert compute_coverage(weights, {"배추"}) == pytest.approx(1 / 2.1)
    assert compute_coverage(weights, {"배추", "추는", "오래"}) == 1.0


def test_without_keywords_the_coverage_is_0():
    assert compute_coverage({}, {"oil"}) == 0.0
