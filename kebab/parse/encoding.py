r"""Decodes files to NFC text with `\n` line ends.

The lines of the text are the lines of the file for every kind of line end, so citations use its
line numbers.
"""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from kebab.errors.catalog import ParseFailed
from kebab.parse.charset import (
    detect_escaped_encoding,
    detect_legacy_encoding,
    detect_wide_encoding,
)

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


@dataclass(frozen=True, slots=True)
class Decoded:
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
    return Decoded(raw, encoding, _describe_losses(raw, body, encoding))


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
    if _is_binary(data):
        return detect_wide_encoding(data), data
    return _detect_8bit(data)


def _detect_utf16(data: bytes) -> str | None:
    """Return the UTF-16 codec whose zero bytes are where those of plain text are."""
    units = len(data) // 2
    even, odd = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    most, least = max(even, odd), min(even, odd)
    if most < _NUL_SHARE * units or least * 10 > most or _has_stray_zeros(data, even + odd):
        return None
    text = data[:65_536].decode(encoding, "replace")
    printable = sum(char.isprintable() or char in "\t\r\n\f" for char in text)
    return encoding if printable >= _PRINTABLE_SHARE * len(text) else None


def _has_stray_zeros(data: bytes, zeros: int) -> bool:
    """Return whether the bytes are UTF-8 except for a few zeros."""
    if zeros * 4 > len(data):
        return False
    try:
        data.replace(b"\0", b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_binary(data: bytes) -> bool:
    """Return whether too many bytes are control characters; final zeros are padding."""
    body = data.rstrip(b"\0")
    controls = len(body) - len(body.translate(None, _CONTROLS))
    padding_only = not body and len(data) >= _FEW_CONTROLS
    return padding_only or (controls >= _FEW_CONTROLS and controls > _CONTROL_SHARE * len(body))


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


def normalize_text(text: str) -> str:
    r"""Return NFC text with `\n` line ends, without zeros and surrogates."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", REPLACEMENT)
    if lines.isascii():
        return lines
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
