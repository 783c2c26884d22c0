import pytest

from kebab.parse.encoding import detect_legacy_encoding

POLISH = "Był to już kolejny dzień, a my wciąż czekaliśmy na łódź. Zażółć gęślą jaźń. " * 3
RUSSIAN = "Это обычный русский текст, который никто не перекодировал. " * 4


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("한글", "cp949"),
        ("이것은 kubectl 명령의 예시이다", "cp949"),
        ("ファイルを開く", "cp932"),
        ("ファイルを開くことができる", "euc_jp"),
        ("数据库备份每天凌晨两点进行", "gb18030"),
        ("größer über straße", "cp1252"),
        ("§ 5 Abs. 2, 25 °C, 3 m³", "cp1252"),
    ],
)
def test_the_encodings_of_short_texts_are_distinguished(text, codec):
    assert detect_legacy_encoding(text.encode(codec)) == codec


def test_a_long_text_is_judged_by_a_sample_that_holds_its_letters():
    data = b"plain ascii line\n" * 10_000 + "한글로 쓴 꼬리말이다. ".encode("cp949") * 5_000
    assert detect_legacy_encoding(data) == "cp949"


@pytest.mark.parametrize(("text", "codec"), [(POLISH, "cp1250"), (RUSSIAN, "cp1251")])
def test_other_languages_are_left_to_the_library(text, codec):
    found = detect_legacy_encoding(text.encode(codec))
    assert found is not None
    assert text.encode(codec).decode(found) == text


def test_a_few_meaningless_bytes_are_no_evidence():
    assert detect_legacy_encoding(b"bad \xff\xfe\xc3( \xe2\x82 bytes") is None
