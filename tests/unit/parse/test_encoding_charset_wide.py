import random

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.encoding import decode, detect_escaped_encoding, detect_wide_encoding

SENTENCES = {
    "en": "We met at noon, and then walked home. ",
    "ko": "어제 저녁에는 비가 많이 와서 길이 젖어 있었다. ",
    "ja": "会議で決まったことを、ここに書きます。",
    "zh": "昨天晚上下了很大的雨，道路都湿了。但是我们还是去市场了。",
    "ru": "Вчера вечером шёл сильный дождь, и дороги были мокрыми. ",
    "el": "Χθες το βράδυ έβρεξε πολύ και δρόμοι ήταν βρεγμένοι. ",
    "ar": "اجتمعنا أمس في المكتب ثم عدنا إلى البيت. ",
}


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("lang", sorted(SENTENCES))
def test_wide_text_without_a_mark_is_recognised(lang, codec):
    text = SENTENCES[lang] * 3 + "\n"

    assert detect_wide_encoding(text.encode(codec)) == codec
    assert decode(text.encode(codec)).text == text


@pytest.mark.parametrize(
    ("lang", "codec"), [("ja", "iso2022_jp"), ("ko", "iso2022_kr"), ("zh", "hz")]
)
def test_text_that_switches_character_sets_is_recognised(lang, codec):
    data = f"Note: {SENTENCES[lang]}\n".encode(codec)

    assert detect_escaped_encoding(data) == codec
    assert decode(data).text == f"Note: {SENTENCES[lang]}\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[31mred\x1b[0m and $(date)\n",
        b"a ~{ b and ~} in a text\n",
        b"price \x1b$ 5\n",
        b"Plain words.\n",
    ],
)
def test_marks_in_plain_text_prove_nothing(data):
    assert detect_escaped_encoding(data) is None
    assert decode(data).text == data.decode()


def test_a_few_zeros_in_a_text_do_not_make_it_wide():
    data = b"Words of a note, a few\0 of them broken.\n" * 20

    assert detect_wide_encoding(data) is None
    assert decode(data).encoding == "utf-8"


def test_binary_data_is_not_wide_text():
    chosen = random.Random(5)
    for size in (64, 1000, 4096):
        for _ in range(50):
            data = chosen.randbytes(size - 1) + b"\0"
            assert detect_wide_encoding(data) is None
    integers = b"".join(number.to_bytes(2, "little") for number in range(2000))
    assert detect_wide_encoding(integers) is None
    with pytest.raises(ParseFailed):
        decode(bytes(range(256)) * 4)
