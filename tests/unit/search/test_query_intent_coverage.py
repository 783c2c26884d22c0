import pytest

from kebab.search.query_intent import compute_coverage, token_set, token_set_of_all, weigh_keywords


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
def test_words_that_only_ask_weigh_nothing_beside_others(asked, expected):
    assert weigh_keywords(asked) == pytest.approx(expected)


def test_a_share_counts_what_occurs_nowhere():
    assert compute_coverage({"oil": 3.0, "embargo": 1.0}, {"oil"}) == pytest.approx(0.75)


def test_of_bigrams_not_all_have_to_be_held():
    weights = {"배추": 1.0, "추는": 1.0, "오래": 1.0}
    assert compute_coverage(weights, {"배추"}) == pytest.approx(1 / 2.1)
    assert compute_coverage(weights, {"배추", "추는", "오래"}) == 1.0


def test_nothing_asked_is_nothing_held():
    assert compute_coverage({}, {"oil"}) == 0.0


def test_tokens_are_those_of_the_index():
    assert token_set("Oil prices") == {"oil", "price"}
    assert token_set_of_all(("Oil", "prices")) == {"oil", "price"}
    assert token_set_of_all(()) == frozenset()
