"""Detects encodings whose bytes are no ASCII text: UTF-16, UTF-32, ISO 2022 and HZ."""

import re

_SAMPLE = 65_536
_LEAST_SHARE = 0.9
_LEAST_SEPARATORS = 0.02
_COMMON = re.compile(
    "[\t\n\r\\x20-\\x7e\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f"
    "\u1e00-\u1eff\u2010-\u203b\u20ac\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uffee]"
)
_SEPARATORS = re.compile("[\n\r .,\u3001\u3002\uff0c]")
_HAN = re.compile("[\u4e00-\u9fff]")


def detect_wide_encoding(data: bytes) -> str | None:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, None for other bytes.

    Only the right order of bytes gives letters of living scripts with blanks and stops between.
    """
    for codec, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width == 0 and _is_plausible(data[:_SAMPLE], codec, width):
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
    if b"\x1b$)C" in data and b"\x0e" in data:
        candidates: tuple[str, ...] = ("iso2022_kr",)
    elif b"\x1b$" in data:
        candidates = ("iso2022_jp", "iso2022_jp_2", "iso2022_jp_3")
    elif b"~{" in data and b"~}" in data:
        candidates = ("hz",)
    else:
        return None
    return next((codec for codec in candidates if _has_letters(data, codec)), None)


def _has_letters(data: bytes, codec: str) -> bool:
    """Return whether all bytes can be decoded, to text beyond ASCII."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return False
    return not text.isascii() and (codec != "hz" or _HAN.search(text) is not None)
