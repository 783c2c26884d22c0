import pytest

from kebab.core.model_profile import LanguageTrust
from kebab.search.fusion import estimate_trust

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
