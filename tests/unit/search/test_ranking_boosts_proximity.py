import pytest

from kebab.search.ranking import compute_proximity

_WEIGHTS = {"oil": 2.0, "embargo": 3.0, "nixon": 1.0}
_ASKED = ("oil", "embargo", "nixon")


def _proximity(text, asked=_ASKED):
    return compute_proximity(text.split(), asked, _WEIGHTS)


def test_adjacent_words_have_the_highest_proximity():
    assert _proximity("the oil embargo nixon") == 1


def test_distance_and_reverse_order_lower_the_proximity():
    near, turned, far = (
        _proximity(text, ("oil", "embargo"))
        for text in ("oil embargo", "embargo oil", "oil a b c embargo")
    )

    assert (near, turned, far) == pytest.approx((1, 1 / 2, 1 / 4))


def test_distant_words_have_no_proximity():
    assert _proximity("oil " + "x " * 20 + "embargo", ("oil", "embargo")) == 0


def test_a_pair_weighs_as_its_commoner_word():
    assert _proximity("oil embargo") == pytest.approx(2 / 3)
    assert _proximity("embargo nixon") == pytest.approx(1 / 3)


def test_a_word_without_weight_does_not_separate_a_pair():
    assert compute_proximity(["oil", "embargo"], ("oil", "of", "embargo"), _WEIGHTS) == 1


def test_one_word_has_no_proximity():
    assert _proximity("oil", ("oil",)) == 0
