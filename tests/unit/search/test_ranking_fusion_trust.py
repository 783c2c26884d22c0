import pytest

from kebab.core.chunks import LanguageTrust
from kebab.search import ranking

_OF_ENGLISH = LanguageTrust(english=1.0, other=0.0)
_OF_ALL = LanguageTrust(english=1.0, other=1.0)
_ENGLISH = (
    "The dough is left to rest for the night, and it is baked with steam from the start. " * 3
)
_GERMAN = (
    "Der Teig ruht über Nacht und wird dann mit Dampf gebacken, bis die Kruste dunkel ist. " * 3
)
_CODE = (
    "El servicio devuelve `the_value` y se configura con `bind_address`, después de reiniciar. " * 3
)


def estimate_trust(levels, texts):
    return ranking.estimate_trust(levels, texts, "how long does it rest?", 1.0).passages


@pytest.mark.parametrize(("text", "expected"), [(_ENGLISH, 1.0), (_GERMAN, 0.0), (_CODE, 0.0)])
def test_a_model_of_english_is_trusted_on_english(text, expected):
    assert estimate_trust(_OF_ENGLISH, [text]) == expected


def test_a_model_of_many_languages_is_trusted_on_all():
    assert estimate_trust(_OF_ALL, [_GERMAN]) == 1


def test_a_mixture_is_trusted_in_part():
    assert 0 < estimate_trust(_OF_ENGLISH, [_ENGLISH, _GERMAN * 9]) < 1


def test_a_few_words_are_not_judged():
    assert estimate_trust(_OF_ENGLISH, ["Der Teig ruht"]) == 1


def test_the_levels_of_the_model_bound_the_trust():
    levels = LanguageTrust(english=0.9, other=0.4)

    assert estimate_trust(levels, [_ENGLISH]) == pytest.approx(0.9)
    assert estimate_trust(levels, [_GERMAN]) == pytest.approx(0.4)


def _trust_query(text, strength, levels=_OF_ENGLISH):
    return ranking.estimate_trust(levels, [_ENGLISH], text, strength).query


def test_a_question_in_the_language_of_the_model_is_trusted_whatever_its_words_say():
    assert _trust_query("How long does the dough rest?", 0.0) == 1


@pytest.mark.parametrize("text", ["Wie lange ruht der Teig?", "hamur dinlenir", "Teigruhe"])
def test_other_words_are_trusted_as_far_as_the_passages_hold_them(text):
    assert _trust_query(text, 0.0) == 0
    assert _trust_query(text, 0.25) == pytest.approx(0.25)
    assert _trust_query(text, 1.0) == 1


def test_a_model_of_many_languages_is_trusted_on_every_question():
    assert _trust_query("Wie lange ruht der Teig?", 0.0, _OF_ALL) == 1


def test_the_levels_of_the_model_bound_the_trust_of_a_query():
    levels = LanguageTrust(english=0.9, other=0.4)

    assert _trust_query("Teigruhe", 0.0, levels) == pytest.approx(0.4)
    assert _trust_query("How long does it rest?", 0.0, levels) == pytest.approx(0.9)


def test_vectors_count_as_far_as_both_sides_are_known():
    assert ranking.VectorTrust(0.5, 0.5).both == pytest.approx(0.25)
