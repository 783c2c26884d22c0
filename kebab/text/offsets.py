"""Finds the places of quotations in a text."""

import re
import unicodedata

MOST_CHARS = 1_000
"""The longest quotation that is looked for."""

_ALIKE = (
    '"“”„\u201f«»「」『』＂｢｣',
    "'‘’‚\u201b′`\u00b4＇",
    "-\u2010\u2011\u2012–—\u2212－",
)
"""Signs that stand for each other: double quotes, single quotes, dashes."""

_CLASSES = {sign: f"[{re.escape(signs)}]" for signs in _ALIKE for sign in signs}
_GAP = r"[*_~`]*\s+(?:>\s*)*[*_~`]*"
"""What may lie between two words: white space, the sign of a block quote, signs of emphasis."""

_AROUND = "\"'`*_«»‘’“”„ "


def find_quotation(
    text: str, quotation: str, start: int = 0, end: int | None = None
) -> list[tuple[int, int]]:
    """Return the places of a quotation within [start, end) of a text, in order.

    Only the best places are returned: those of whole words before parts of words; those with the
    same characters before those that differ in white space, quotes, dashes, case, the Unicode
    normal form, or in signs of emphasis between words; and in the end those of a quotation without
    the quotes around it. A quotation without words has no place.
    """
    end = len(text) if end is None else end
    wanted = quotation.strip()
    for words in dict.fromkeys((wanted, wanted.strip(_AROUND))):
        if len(words) > MOST_CHARS or not any(map(str.isalnum, words)):
            continue
        exact = [one.span() for one in re.compile(re.escape(words)).finditer(text, start, end)]
        if whole := [place for place in exact if _is_whole(text, *place)]:
            return whole
        pattern = re.compile(_loosen(words), re.IGNORECASE)
        loose = [one.span() for one in pattern.finditer(text, start, end)]
        if places := [place for place in loose if _is_whole(text, *place)] or exact or loose:
            return places
    return []


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a place neither begins nor ends within a word."""
    begins = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    ends = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not begins and not ends


def _loosen(wanted: str) -> str:
    """Return the pattern for a quotation that is not exact."""
    words = unicodedata.normalize("NFC", wanted).split()
    return _GAP.join("".join(map(_loosen_sign, word)) for word in words)


def _loosen_sign(sign: str) -> str:
    """Return the pattern for a character in any normal form; quotes and dashes are alike."""
    if sign in _CLASSES:
        return _CLASSES[sign]
    parts = unicodedata.normalize("NFD", sign)
    escaped = re.escape(sign)
    return escaped if parts == sign else f"(?:{escaped}|{re.escape(parts)})"
