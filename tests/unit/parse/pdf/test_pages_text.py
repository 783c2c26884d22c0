import pytest

from kebab.parse.pdf.pages import clean_text, is_legible

ENGLISH = (
    "Dry soil warms faster than wet soil, so the curve reveals the moisture of the ground. " * 3
)
GERMAN = "Trockener Boden erwärmt sich schneller als nasser, wie die Kurve der Sonde zeigt. " * 3
POLISH = "Sucha gleba nagrzewa się szybciej niż mokra, więc krzywa pokazuje wilgotność. " * 3
KOREAN = "마른 흙은 젖은 흙보다 빨리 따뜻해지므로 온도 곡선에서 수분을 알 수 있다. " * 3


@pytest.mark.parametrize(
    "text", [ENGLISH, GERMAN, POLISH, KOREAN, ENGLISH.upper(), "", "x", "12 %"]
)
def test_language_is_legible(text):
    assert is_legible(text)


def test_letters_of_another_code_are_not():
    shifted = "".join(chr(ord(char) - 29) if char > "=" else char for char in ENGLISH)

    assert not is_legible(shifted)


@pytest.mark.parametrize("char", ["\ue000", "\ufffd", "\x03", "\x91", "\U000f0001"])
def test_private_and_control_characters_are_not(char):
    assert not is_legible(char * 30)
    assert not is_legible(char)
    assert is_legible(ENGLISH + char)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("e\ufb03cient", "efficient"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\uf0b7 item", "• item"),
        ("a\x03b", "ab"),
        ("\ufee1\ufefc\u0633", "ملاس"),
        ("plain", "plain"),
    ],
)
def test_text_is_cleaned(raw, clean):
    assert clean_text(raw) == clean
