import unicodedata

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.encoding import (
    decode,
    decode_raw,
    detect_escaped_encoding,
    detect_legacy_encoding,
    detect_wide_encoding,
    encode_raw,
)

KOREAN = "# 회의록\n\n이 문서는 인코딩 시험용이다. 표시: token\n백업은 매일 새벽 두 시에 한다.\n"
JAPANESE = "# 会議録\n\nこの文書は符号化の試験である。token\n"
CHINESE = "# 会议记录\n\n这份文件用于编码测试。token\n"
TAIWAN = "# 會議記錄\n\n這份文件用於編碼測試。請勿刪除。我們明天下午開會。token\n"
FRENCH = "# Café\n\nÇa dépend du naïve garçon, à Noël. token\n"


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (KOREAN, "utf-8", "utf-8"),
        (KOREAN, "utf-8-sig", "utf-8"),
        (KOREAN, "utf-16", "utf-16-le"),
        (KOREAN, "utf-32", "utf-32-le"),
        (KOREAN, "utf-16-le", "utf-16-le"),
        (FRENCH, "utf-16-be", "utf-16-be"),
        (KOREAN, "cp949", "cp949"),
        (KOREAN, "euc_kr", "cp949"),
        (JAPANESE, "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (CHINESE, "gb18030", "gb18030"),
        (TAIWAN, "big5", "big5"),
        (FRENCH, "latin-1", "cp1252"),
        ("# “Smart” — fine… 25 °C token\n", "cp1252", "cp1252"),
    ],
)
def test_text_survives_the_encodings_people_have(text, codec, encoding):
    decoded = decode(text.encode(codec))
    assert decoded.text == text
    assert decoded.encoding == encoding
    assert decoded.warnings == ()


def test_surrogates_written_as_utf_8_become_one_character():
    decoded = decode(b"token \xed\xa0\xbd\xed\xb8\x80 \xc0\xaf")
    assert decoded.text == "token \U0001f600 \ufffd\ufffd"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_becomes_a_line_feed(end):
    assert decode(f"a{end}{end}b{end}".encode()).text == "a\n\nb\n"


def test_text_is_composed():
    decomposed = unicodedata.normalize("NFD", "각주 café")
    assert decode(decomposed.encode()).text == "각주 café"


def test_a_stray_zero_byte_is_replaced():
    assert decode(b"token \0 and more text").text == "token \ufffd and more text"


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 8, b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" * 9, b"\0" * 64],
    ids=["every byte", "image", "zeros"],
)
def test_binary_data_is_refused(data):
    with pytest.raises(ParseFailed) as refusal:
        decode(data, "a/b.md", "markdown-v1")
    refused = refusal.value
    assert (refused.path, refused.parser) == ("a/b.md", "markdown-v1")
    assert refused.cause == "binary data, not text"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp949"])
def test_a_changed_text_keeps_the_encoding_and_the_mark_of_its_file(codec: str) -> None:
    data = "한국어 문서입니다. 이것은 글입니다.\r\n".encode(codec)
    raw = decode_raw(data)
    assert encode_raw(raw.text, raw, data) == data
    changed = raw.text.replace("글", "긴 글")
    assert encode_raw(changed, raw, data) == changed.encode(codec)


def test_a_text_that_lost_bytes_or_gains_a_foreign_character_is_not_encoded() -> None:
    damaged = b"good words \xff here\n" + "\xe9\xe9\xe9\xe9".encode()
    raw = decode_raw(damaged)
    assert encode_raw(raw.text, raw, damaged) is None
    korean = "한국어 문서입니다.\n".encode("cp949")
    raw = decode_raw(korean)
    assert encode_raw(raw.text + "\U0001f600", raw, korean) is None


POLISH = "Był to już kolejny dzień, a my wciąż czekaliśmy na łódź. Zażółć gęślą jaźń. " * 3


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
