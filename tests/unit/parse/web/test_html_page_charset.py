import codecs

import pytest
from selectolax.lexbor import LexborHTMLParser

from kebab.errors.catalog import ParseFailed
from kebab.parse.web.html_page import (
    BLOCKS,
    DROP,
    NOT_CONTENT,
    decode_html,
    is_left_out,
    read_metadata,
    shorten_title,
)

KOREAN = "등대의 렌즈를 닦는다"


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
    data = b"<html><head>" + declaration + KOREAN.encode(codec or "cp949", "ignore")
    assert decode_html(data).encoding == (codec or "cp949")


def test_a_page_in_utf8_that_declares_another_encoding_is_utf8():
    assert decode_html(codecs.BOM_UTF8 + KOREAN.encode()).text == KOREAN
    decoded = decode_html(b"<meta charset=euc-kr><p>" + KOREAN.encode())

    assert decoded.text.endswith(KOREAN)
    assert decoded.encoding == "utf-8"


def test_a_declaration_that_does_not_fit_is_ignored():
    decoded = decode_html(b"<meta charset=shift_jis><p>" + (KOREAN * 5).encode("cp949"))

    assert decoded.text.endswith(KOREAN)


def test_binary_data_is_refused():
    with pytest.raises(ParseFailed):
        decode_html(bytes(range(256)) * 4)


def read(html):
    return read_metadata(LexborHTMLParser(html))


def test_the_head_gives_title_authors_date_and_keywords():
    metadata = read(
        "<html lang=ko-KR><title> A\n note </title><meta name=Author content='Nora Lind'>"
        "<meta property='article:published_time' content='2024-11-02T09:30:00+09:00'>"
        "<meta name=keywords content='lamps, oil,lamps,'>"
    )

    assert metadata.title == "A note"
    assert metadata.authors == ("Nora Lind",)
    assert metadata.date == "2024-11-02T00:30:00Z"
    assert metadata.tags == ("lamps", "oil")
    assert metadata.lang == "ko"


@pytest.mark.parametrize(
    ("html", "date"),
    [
        (
            '<script type="application/ld+json">{"datePublished": "2023-01-05"}</script>',
            "2023-01-05",
        ),
        ("<p>x <time datetime='2022-02-03'>then</time>", "2022-02-03"),
        ("<meta name=dc.date content='2021/3/4'>", "2021-03-04"),
        ("<meta name=date content=yesterday>", None),
    ],
)
def test_the_date_is_found_wherever_it_stands(html, date):
    assert read(html).date == date


@pytest.mark.parametrize(
    ("title", "heading", "short"),
    [
        ("Lamps - Harbour Site", "Lamps", "Lamps"),
        ("Harbour Site | Lamps", "Lamps", "Lamps"),
        ("What is oil? - Harbour", "What Is Oil?", "What Is Oil?"),
        ("Lamps", "Lamps", "Lamps"),
        ("A-B tests", "B tests", "A-B tests"),
        ("Lamps - Harbour Site", "Oil", "Lamps - Harbour Site"),
        ("Lamps - Harbour Site", "", "Lamps - Harbour Site"),
    ],
)
def test_the_name_of_the_site_is_left_out_of_the_title(title, heading, short):
    assert shorten_title(title, [heading]) == short


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("div", 'class="my-toc-list"'),
        ("section", 'class="toc"'),
        ("img", f'{DROP}=""'),
        ("p", 'data-id="toc"'),
        ("div", 'class="section" id="cookie-consent"'),
    ],
)
def test_other_elements_are_kept(name, attributes):
    assert not is_left_out(name, f"{name} {attributes}")


def test_no_block_is_left_out_by_its_name():
    assert not set(BLOCKS) & set(NOT_CONTENT)
