import pytest

from kebab.text.language import detect_written_form, may_share_words

ENGLISH = "The pump is in the cellar and it was built by the owner of the house."
GERMAN = "Die Pumpe steht im Keller und sie ist von dem Besitzer des Hauses gebaut."
KOREAN = "펌프는 Berlin의 지하실에 있다."
JAPANESE = "ポンプは地下にある。"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ENGLISH, "latin"),
        (KOREAN, "hangul"),
        (JAPANESE, "han"),
        ("\u043d\u0430\u0441\u043e\u0441 \u0441\u0442\u043e\u0438\u0442", "cyrillic"),
        ("12 + 7", None),
    ],
)
def test_the_script_of_most_letters_counts(text, name):
    assert detect_written_form(text).script == name


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (ENGLISH, ENGLISH, True),
        (ENGLISH, "Pump, 12 V", True),
        (ENGLISH, "12", True),
        (ENGLISH, KOREAN, False),
        (KOREAN, JAPANESE, False),
        (ENGLISH, GERMAN, False),
    ],
)
def test_words_are_compared_within_a_script_and_a_language(one, other, expected):
    assert may_share_words(detect_written_form(one), detect_written_form(other)) is expected
