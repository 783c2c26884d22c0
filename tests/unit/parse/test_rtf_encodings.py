import pytest

from kebab.parse.rtf import decode_bytes, find_charset_codec, find_page_codec, join_surrogates

KOREAN = "\ub4f1\ub300 \ub620"


def test_fonts_and_code_pages_have_codecs():
    assert find_charset_codec(129) == "cp949"
    assert find_charset_codec(0) == ""
    assert find_page_codec(949) == "cp949"
    assert find_page_codec(936) == "gb18030"
    assert find_page_codec(77_777) == "cp1252"


@pytest.mark.parametrize(("font", "page"), [("cp949", "cp1252"), ("", "cp949"), ("cp949", "cp932")])
def test_text_is_decoded_by_its_font_or_its_document(font, page):
    assert decode_bytes(KOREAN.encode("cp949"), font, page) == KOREAN


def test_bytes_that_do_not_fit_are_replaced():
    assert decode_bytes(b"a\xff", "cp949", "cp1252") == "a\ufffd"
    assert decode_bytes(b"caf\xe9", "", "cp1252") == "caf\u00e9"


def test_pairs_of_escapes_are_one_character():
    assert join_surrogates("a\ud83d\ude00b") == "a\U0001f600b"
    assert join_surrogates("\ud83d") == "\ufffd"
