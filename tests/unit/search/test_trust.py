import pytest

from kebab.search.trust import trust

_MINILM, _E5 = "fastembed-minilml6-384-v1", "fastembed-mle5small-384-v1"
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
    assert trust(_MINILM, [text]) == expected


def test_a_model_of_many_languages_is_trusted_on_all():
    assert trust(_E5, [_GERMAN]) == 1


def test_a_mixture_is_trusted_in_part():
    assert 0 < trust(_MINILM, [_ENGLISH, _GERMAN * 9]) < 1


def test_a_few_words_are_not_judged():
    assert trust(_MINILM, ["Der Teig ruht"]) == 1
