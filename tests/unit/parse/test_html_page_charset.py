import codecs

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.html_page import decode_html, find_codec, find_declared_codec

KOREAN = "등대의 렌즈를 닦는다"


def decode(data):
    return decode_html(data, "a.html", "html-v1")


@pytest.mark.parametrize(
    ("declaration", "codec"),
    [
        (b'<meta charset="euc-kr">', "cp949"),
        (b"<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=ks_c_5601-1987'>", "cp949"),
        (b'<?xml version="1.0" encoding="Shift_JIS"?>', "cp932"),
        (b"<meta charset=gb2312>", "gb18030"),
        (b"<meta charset=ISO-8859-1>", "cp1252"),
        (b"<meta charset=UTF-8>", "utf-8"),
        (b"<meta charset=nothing>", ""),
        (b"<meta charset=base64>", ""),
        (b"<meta charset=utf-7>", ""),
        (b"<meta name=author content=x>", ""),
    ],
)
def test_the_declaration_names_the_codec_that_browsers_use(declaration, codec):
    assert find_declared_codec(b"<html><head>" + declaration) == codec


def test_a_declaration_far_below_the_head_is_not_read():
    assert find_declared_codec(b" " * 5_000 + b"<meta charset=euc-kr>") == ""


def test_a_short_page_in_its_declared_encoding_is_read():
    decoded = decode(b"<meta charset=euc-kr><p>" + "똠방".encode("cp949"))

    assert decoded.text.endswith("똠방")
    assert decoded.encoding == "cp949"
    assert decoded.warnings == ()


def test_a_page_in_utf8_that_declares_another_encoding_is_utf8():
    decoded = decode(b"<meta charset=euc-kr><p>" + KOREAN.encode())

    assert decoded.text.endswith(KOREAN)
    assert decoded.encoding == "utf-8"


def test_a_page_that_declares_utf8_but_is_not_is_detected():
    decoded = decode(b"<meta charset=utf-8><p>" + (KOREAN * 5).encode("cp949"))

    assert decoded.text.endswith(KOREAN)
    assert decoded.encoding == "cp949"


def test_a_declaration_that_does_not_fit_is_ignored():
    decoded = decode(b"<meta charset=shift_jis><p>" + (KOREAN * 5).encode("cp949"))

    assert decoded.text.endswith(KOREAN)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_the_byte_order_mark_decides(codec):
    bom = codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE

    assert decode(bom + f"<meta charset=euc-kr>{KOREAN}".encode(codec)).text.endswith(KOREAN)


def test_lost_characters_are_counted():
    decoded = decode(b"<meta charset=euc-kr>" + (KOREAN * 100).encode("cp949") + b"\xff\xff")

    assert decoded.warnings == ("characters that are not cp949 were replaced: 2",)


def test_binary_data_is_refused():
    with pytest.raises(ParseFailed):
        decode(bytes(range(256)) * 4)


def test_names_that_python_does_not_know_have_codecs():
    assert find_codec(" Windows-949 ") == "cp949"
    assert find_codec("x-sjis") == "cp932"
