"""Decodes the bytes of a text in Rich Text Format by font, code page and Unicode escapes."""

import codecs

_CODEC_OF_CHARSET = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
"""The codecs of the character sets of fonts; other fonts use the code page of the document."""

_DOUBLE_BYTE = frozenset({"cp932", "cp949", "gb18030", "big5"})
_CODE_PAGES = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}
DEFAULT = "cp1252"


def find_charset_codec(charset: int) -> str:
    """Return the codec of the character set of a font; empty for that of the document."""
    return _CODEC_OF_CHARSET.get(charset, "")


def find_page_codec(page: int) -> str:
    """Return the codec of a code page."""
    name = _CODE_PAGES.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return DEFAULT


def decode_bytes(data: bytes, font_codec: str, page_codec: str) -> str:
    """Return the text of bytes in a font.

    Some programs write double-byte text in a font whose character set is Western.
    """
    if not font_codec or page_codec in _DOUBLE_BYTE:
        try:
            return data.decode(font_codec or page_codec)
        except UnicodeDecodeError:
            pass
    return data.decode(font_codec or page_codec, "replace")


def join_surrogates(text: str) -> str:
    """Return text whose characters beyond the first plane are written as two escapes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
