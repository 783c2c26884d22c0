"""Decodes HTML by its byte order mark and its declarations."""

import codecs
import re

from kebab.parse.encoding import Decoded, decode, normalize_text

_DECLARED_WITHIN = 4_096
_DECLARATION = re.compile(
    rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CODECS = {
    "ascii": "cp1252",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
"""The codecs that browsers use in place of those that pages name, as the Encoding Standard says."""

_LABELS = {
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "ks_c_5601": "cp949",
    "windows-949": "cp949",
    "x-windows-949": "cp949",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-cp1252": "cp1252",
}
"""Names of encodings on the web that Python does not know."""

_TEXT_CODEC = re.compile(
    "utf-8|ascii|cp\\d+|iso8859-\\d+|iso2022_\\w+|euc_\\w+|shift_\\w+|gb\\w+|hz|big5\\w*|johab"
    "|koi8-\\w|mac-\\w+|tis-620"
)

_BROKEN_SHARE = 0.005
"""The largest share of characters that the declared encoding may fail to decode."""


def decode_html(data: bytes, path: str, parser: str) -> Decoded:
    """Return the text of an HTML file; `path` and `parser` are for the error.

    A page that is valid UTF-8 is UTF-8, whatever it says, because saved pages are often converted
    without a change of their declaration.

    Raises:
        ParseFailed: The bytes are not text.
    """
    declared = "" if data.startswith(_BOMS) or b"\0" in data else find_declared_codec(data)
    if not declared or declared == "utf-8" or _is_utf8(data):
        return decode(data, path, parser)
    return decode_declared(data, declared) or decode(data, path, parser)


def find_declared_codec(data: bytes) -> str:
    """Return the codec that a page declares, empty when it declares none that is known."""
    found = _DECLARATION.search(data[:_DECLARED_WITHIN])
    return find_codec((found[1] or found[2]).decode("ascii", "replace")) if found else ""


def find_codec(label: str) -> str:
    """Return the codec of a name of an encoding, empty when there is none for text."""
    lower = label.strip().lower()
    if lower in _LABELS:
        return _LABELS[lower]
    try:
        name = codecs.lookup(lower).name
    except (LookupError, ValueError):
        return ""
    return _CODECS.get(name, name) if _TEXT_CODEC.fullmatch(name) else ""


def decode_declared(data: bytes, codec: str) -> Decoded | None:
    """Return the text in the declared codec, None when it does not fit the bytes."""
    text = data.decode(codec, "replace")
    lost = text.count("\ufffd")
    if lost > _BROKEN_SHARE * len(text):
        return None
    warnings = (f"characters that are not {codec} were replaced: {lost}",) if lost else ()
    return Decoded(normalize_text(text), codec, warnings)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
