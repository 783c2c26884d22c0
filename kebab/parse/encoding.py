"""Detects the encoding of a file, and decodes it to NFC text with LF line ends.

The lines of the text are the lines of the file for every kind of line end, so citations use its
line numbers. UTF-16, UTF-32, ISO 2022 and HZ have bytes that no other text has. The other
multi-byte codecs accept almost any bytes, so a strict decode proves little. Each national standard
has its frequent characters in one part of its table, so their share identifies it. For other
encodings charset-normalizer gets a sample, because its time grows with the text.
"""

import codecs
import re
import unicodedata
from collections.abc import Callable

from msgspec import Struct

from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.parse.latin_encoding import detect_latin_encoding, has_single_letters
from kebab.text.normalize import split_names

_SAMPLE = 32_768
_SLOW_SAMPLE = 4_096
_TINY_EVIDENCE = 8
_PLAUSIBLE = 0.9
_HIGH = bytes(range(0x80, 0x100))
_LETTERS = re.compile(r"[^\W\d_\x00-\x7f]")
_KANA = re.compile("[ぁ-\u30fa]")
_HALF_KANA = re.compile("[\uff66-\uff9d]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile("[\u4e00-\u9fff]")
_WESTERN = re.compile(
    "(?<=[A-Za-z])[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e]"
    "|[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e](?=[A-Za-z])"
    "|(?<!\\S)[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff](?!\\S)"
    "|[‘’“”„–—…•\u20ac\u2122"
    "\u00a0\u00a3\u00a7\u00a9«\u00ae\u00b0\u00b4\u00b6·\u00ba»\u00d7]"
    "|[\u00b2\u00b3\u00b5\u00b9\u00bc-\u00be](?![a-z])|(?<![A-Za-z])[\u00a1\u00bf](?=\\w)"
)

_EXCLUDED = [
    *split_names(
        "cp932 cp949 cp950 big5 big5hkscs euc_jp euc_jis_2004 euc_jisx0213 euc_kr gb2312 gb18030"
        " gbk johab shift_jis shift_jis_2004 shift_jisx0213"
    )
]
"""The codecs of several bytes: their texts were looked for before."""

_WIDE_SAMPLE = 65_536
_LEAST_SHARE = 0.9
_LEAST_SEPARATORS = 0.02
_COMMON = re.compile(
    "[\t\n\r\\x20-\\x7e\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f"
    "\u1e00-\u1eff\u2010-\u203b\u20ac\u3001-ヿ\u3400-\u9fff가-힣\uff01-\uffee]"
)
_SEPARATORS = re.compile("[\n\r .,、。，]")


def detect_legacy_encoding(data: bytes) -> str | None:
    """Return the codec that decodes the bytes to plausible text, or None."""
    sample = _take_sample(data)
    latin = detect_latin_encoding(sample)
    if latin and has_single_letters(sample):
        return latin.codec
    for codec, plausible in _MULTI_BYTE:
        text = sample.decode(codec, "replace")
        is_cut = len(sample) < len(data) and text[-1:] == REPLACEMENT  # within a character
        if text.count(REPLACEMENT) - is_cut <= len(text) // 500 and plausible(text):
            return codec
    if latin:
        return latin.codec
    western = sample.decode("cp1252", "replace")
    non_ascii = len(western) - len(western.encode("ascii", "ignore"))
    # In Western text accents are beside letters and the rest is common punctuation.
    if len(_WESTERN.findall(western)) >= _PLAUSIBLE * non_ascii:
        return "cp1252"
    if len(sample) - len(sample.translate(None, _HIGH)) < _TINY_EVIDENCE:
        return None
    with translate_import_errors("reading old encodings", "charset-normalizer"):
        from charset_normalizer import from_bytes

    best = from_bytes(sample[:_SLOW_SAMPLE], cp_exclusion=_EXCLUDED).best()
    return None if best is None else best.encoding


def _take_sample(data: bytes) -> bytes:
    """Return the bytes from the line of the first byte on that is not ASCII."""
    high = re.search(rb"[\x80-\xff]", data) if len(data) > _SAMPLE else None
    start = data.rfind(b"\n", 0, high.start()) + 1 if high else 0
    return data[start : start + _SAMPLE]


def _is_japanese(text: str) -> bool:
    """Return whether the letters contain the kana of Japanese sentences."""
    return _has_share(len(_KANA.findall(text)), text, 0.2) and not _has_share(
        len(_HALF_KANA.findall(text)), text, 0.2
    )


def _is_of_standard(
    text: str, letters: re.Pattern[str], codec: str, rows: range, share: float
) -> bool:
    """Return whether the letters are the frequent ones of a national standard.

    These are in rows of its table, which are their first bytes. Further letters that vendors added
    to the rows have a low second byte; Big5 has none.
    """
    raw = "".join(letters.findall(text)).encode(codec, "ignore")
    trails = range(0 if codec == "big5" else 0xA1, 0x100)
    pairs = zip(raw[0::2], raw[1::2], strict=False)
    return _has_share(sum(one in rows and two in trails for one, two in pairs), text, share)


def _has_share(count: int, text: str, share: float) -> bool:
    """Return whether `count` is at least this share of the letters beyond ASCII, and not 0."""
    return count > 0 and count >= share * len(_LETTERS.findall(text))


_MULTI_BYTE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("cp949", lambda text: _is_of_standard(text, _HANGUL, "cp949", range(0xB0, 0xC9), 0.88)),
    ("euc_jp", _is_japanese),
    ("cp932", _is_japanese),
    ("gb18030", lambda text: _is_of_standard(text, _HAN, "gb2312", range(0xB0, 0xD8), 0.75)),
    ("big5", lambda text: _is_of_standard(text, _HAN, "big5", range(0xA4, 0xC7), 0.8)),
)


def detect_wide_encoding(data: bytes) -> str | None:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, None for other bytes.

    Only the right order of bytes gives letters of living scripts with blanks and stops between.
    """
    for codec, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width == 0 and _is_plausible(data[:_WIDE_SAMPLE], codec, width):
            return codec
    return None


def _is_plausible(sample: bytes, codec: str, width: int) -> bool:
    try:
        text = sample.decode(codec)
    except UnicodeDecodeError as failure:
        if failure.end < len(sample) - width:
            return False
        text = sample.decode(codec, "ignore")
    separators = len(_SEPARATORS.findall(text))
    common = len(_COMMON.findall(text))
    return separators >= _LEAST_SEPARATORS * len(text) and common >= _LEAST_SHARE * len(text) > 0


def detect_escaped_encoding(data: bytes) -> str | None:
    """Return the codec of text of 7 bits that switches character sets, None for other bytes."""
    # Single bytes are found much faster than pairs.
    if b"\x1b" in data and b"\x1b$)C" in data and b"\x0e" in data:
        candidates: tuple[str, ...] = ("iso2022_kr",)
    elif b"\x1b" in data and b"\x1b$" in data:
        candidates = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_3")
    elif b"~" in data and b"~{" in data and b"~}" in data:
        candidates = ("hz",)
    else:
        return None
    for codec in candidates:
        text = _decode_strictly(data, codec)
        if not text.isascii() and (codec != "hz" or _HAN.search(text)):
            return codec
    return None


def _decode_strictly(data: bytes, codec: str) -> str:
    """Return the text of bytes, empty when they are of another encoding."""
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return ""


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKS = frozenset({b"", *(mark for mark, _ in _BOMS)})
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\b\t\n\v\f\r\x1b"))
_CONTROL_SHARE = 0.05
_FEW_CONTROLS = 8
_PRINTABLE_SHARE = 0.95
_NUL_SHARE = 0.02
_VALID_PER_BROKEN = 4
_CESU_PAIR = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_MARK_RUN = re.compile(r"([^\x00-\x7f\w\s]{128,})")
_SAMPLE_STEP = 64
_MARKS_IN_SAMPLE = re.compile(r"[^\x00-\x7f\w\s]{2}")
"""A run of 128 marks is two marks in a row among every 64th character."""
_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Decoded(Struct, frozen=True):
    """The text of a file, its codec, and warnings about lost characters."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, path: str = "-", parser: str = "text-v1") -> Decoded:
    """Return the text of a file; `path` and `parser` are for the error.

    Raises:
        ParseFailed: The bytes are not text.
    """
    raw = decode_raw(data, path, parser)
    return Decoded(normalize_text(raw.text), raw.encoding, raw.warnings)


def decode_raw(data: bytes, path: str = "-", parser: str = "text-v1") -> Decoded:
    """Return the text of a file with its own line ends and characters, without a byte order mark.

    Raises:
        ParseFailed: The bytes are not text.
    """
    encoding, body = _detect_encoding(data)
    if encoding is None:
        raise ParseFailed(path=path, parser=parser, cause="binary data, not text")
    raw = body.decode(encoding, "replace")
    warnings = (*_describe_losses(raw, body, encoding), *_describe_doubt(body, encoding))
    return Decoded(raw, encoding, warnings)


def encode_raw(text: str, original: Decoded, data: bytes) -> bytes | None:
    """Return the bytes of a changed text in the form of its file, with the byte order mark of it.

    None when bytes of the file were lost when it was decoded, or when the encoding of the file
    lacks a character of the text.
    """
    try:
        before = original.text.encode(original.encoding)
        after = text.encode(original.encoding)
    except UnicodeEncodeError:
        return None
    mark = data[: len(data) - len(before)]
    return mark + after if data == mark + before and mark in _MARKS else None


def _detect_encoding(data: bytes) -> tuple[str | None, bytes]:
    """Return the codec and the bytes after its mark; no codec for binary data."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return encoding, data[len(bom) :]
    if b"\0" in data:
        wide = _detect_utf16(data) or detect_wide_encoding(data)
        if wide:
            return wide, data
    elif escaped := detect_escaped_encoding(data):
        return escaped, data
    body = data.rstrip(b"\0")
    controls = len(body) - len(body.translate(None, _CONTROLS))
    padding_only = not body and len(data) >= _FEW_CONTROLS
    if padding_only or (controls >= _FEW_CONTROLS and controls > _CONTROL_SHARE * len(body)):
        return detect_wide_encoding(data), data
    return _detect_8bit(data)


def _detect_utf16(data: bytes) -> str | None:
    """Return the UTF-16 codec whose zero bytes are where those of plain text are."""
    units = len(data) // 2
    even, odd = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    most, least = max(even, odd), min(even, odd)
    if most < _NUL_SHARE * units or least * 10 > most:
        return None
    if (even + odd) * 4 <= len(data) and _decode_strictly(data.replace(b"\0", b""), "utf-8"):
        return None  # UTF-8 except for a few zeros
    text = data[:65_536].decode(encoding, "replace")
    printable = sum(char.isprintable() or char in "\t\r\n\f" for char in text)
    return encoding if printable >= _PRINTABLE_SHARE * len(text) else None


def _detect_8bit(data: bytes) -> tuple[str, bytes]:
    """Choose between UTF-8, even if slightly broken, and a legacy codec."""
    try:
        data.decode()
    except UnicodeDecodeError as failure:
        if failure.reason == "unexpected end of data":
            return "utf-8", data
    else:
        return "utf-8", data
    joined, pairs = _CESU_PAIR.subn(_join_pair, data)
    if pairs:
        return "utf-8", joined
    text = data.decode(errors="replace")
    broken = text.count(REPLACEMENT)
    valid = len(text) - len(text.encode("ascii", "ignore")) - broken
    if valid >= _VALID_PER_BROKEN * broken:
        return "utf-8", data
    encoding = detect_legacy_encoding(data)
    return encoding or "utf-8", data


def _join_pair(match: re.Match[bytes]) -> bytes:
    """Return the UTF-8 of a character that is encoded as two surrogates."""
    pair = match[0].decode("utf-8", "surrogatepass")
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le").encode()


def _describe_losses(raw: str, body: bytes, encoding: str) -> tuple[str, ...]:
    """Return a warning about bytes that the codec cannot decode."""
    lost = raw.count(REPLACEMENT)
    if lost:
        lost -= body.count(REPLACEMENT.encode(encoding, "ignore") or REPLACEMENT.encode())
    return (f"characters that are not {encoding} were replaced: {lost}",) if lost > 0 else ()


def _describe_doubt(body: bytes, encoding: str) -> tuple[str, ...]:
    """Return a warning where another encoding of Latin script is as likely."""
    latin = None if encoding.startswith("utf") else detect_latin_encoding(_take_sample(body))
    if latin is None or latin.doubt is None or latin.codec != encoding:
        return ()
    return (f"the encoding is uncertain: read as {encoding}, {latin.doubt} is as likely",)


def normalize_text(text: str) -> str:
    r"""Return NFC text with `\n` line ends, without zeros and surrogates."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    lines = lines.replace("\0", REPLACEMENT)
    if lines.isascii():
        return lines
    try:
        lines.encode()
        clean = lines
    except UnicodeEncodeError:
        clean = _SURROGATES.sub(REPLACEMENT, lines)
    if not _MARKS_IN_SAMPLE.search(clean[::_SAMPLE_STEP]):
        return unicodedata.normalize("NFC", clean)
    # Normalisation takes quadratic time in a run of combining marks, so it leaves out runs that
    # are longer than those of any script.
    parts = _MARK_RUN.split(clean)
    return "".join(
        part if number % 2 else unicodedata.normalize("NFC", part)
        for number, part in enumerate(parts)
    )
