"""Judges and repairs the text that PDFium gives: legibility, signs of TeX, superscripts."""

import re
import unicodedata

_FEW = 20
_UNREADABLE_SHARE = 0.25
LATIN_LETTERS = 120
DOUBTED_LETTERS = 40
"""The letters that decide about a page most of whose fonts do not say which letters they show."""
_LATIN_SHARE = 0.7
_SURE_SHARE = 0.33
_VOWEL_SHARE = 0.25
"""The least share of vowels in Latin letters: languages have .35 to .5, a shifted code .14."""

_UNREADABLE = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\ufffd\U000f0000-\U0010ffff]"
)
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_WORDS = re.compile(r"[^\W\d_]{3,}")
_NOT_LATIN = re.compile("[^A-Za-z\u00aa-\u024f]+")


def is_legible(text: str, least: int = LATIN_LETTERS) -> bool:
    """Return whether a text can be read, as far as its characters tell.

    A font without a table of its letters gives private characters, control characters, or the
    letters of another code, whose statistics are those of no language. `least` is the number of
    letters from which they decide.
    """
    visible = "".join(text.split())
    unreadable = (
        0 if visible.isascii() and visible.isprintable() else len(_UNREADABLE.findall(visible))
    )
    if len(visible) < _FEW:
        return not visible or unreadable < len(visible)
    if unreadable > _UNREADABLE_SHARE * len(visible):
        return False
    quick = visible.encode("ascii", "ignore").translate(None, _NO_ASCII_LETTERS).lower()
    if sum(map(quick.count, b"aeiouy")) > _SURE_SHARE * len(quick):
        return True
    words = _WORDS.findall(text)
    letters = "".join(words)
    latin = letters if letters.isascii() else _NOT_LATIN.sub("", letters)
    if len(latin) < max(least, _LATIN_SHARE * len(letters)) or _has_vowels(latin):
        return True
    # An index of code has names without vowels, as `FlxqX`, and words.
    plain = "".join(word for word in words if word.isupper() or word[1:].islower())
    return len(plain) >= least and _has_vowels(plain)


def _has_vowels(letters: str) -> bool:
    """Return whether letters have the vowels of a language."""
    bases = letters if letters.isascii() else unicodedata.normalize("NFD", letters)
    vowels = sum(map(bases.lower().count, "aeiouy\u00e6\u00f8\u0153\u0131"))
    return vowels >= _VOWEL_SHARE * len(letters)


_SYMBOLS = {
    **{
        0xFB00 + number: text
        for number, text in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))
    },
    # Bullets of the fonts Symbol and Wingdings.
    **dict.fromkeys((0xF0B7, 0xF0A7, 0xF076, 0xF0D8, 0xF0FC), "•"),
    0x00AD: None,
    0x200B: None,
    0xFEFF: None,
    0xFFFE: "-",
}
_CORK = re.compile(r"^\x88(?= )|[\x10\x15\x1b-\x1f](?=\w)|(?<=[\w.,])[\x11\x1b-\x1f]", re.MULTILINE)
_CORK_SIGNS = dict(
    zip("\x10\x11\x15\x1b\x1c\x1d\x1e\x1f\x88", "“”–\ufb00\ufb01\ufb02\ufb03\ufb04•", strict=True)
)
"""Signs beside letters in fonts of TeX that give only their own codes."""
_ODD = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\ufff0-\ufffb\uffff]+|(?P<forms>[\ufb1d-\ufdfc\ufe80-\ufefc]+)"
)
"""Control characters, and the forms and ligatures of Hebrew and Arabic letters."""


def restore_cork(text: str) -> str:
    """Return text with the signs for which a font gave the codes of TeX, one for one."""
    if not any(map(text.__contains__, _CORK_SIGNS)):
        return text
    return _CORK.sub(lambda code: _CORK_SIGNS[code[0]], text)


def clean_text(text: str) -> str:
    """Return text without ligatures, soft hyphens and control characters."""
    if text.isascii() and text.isprintable():
        return text
    return _ODD.sub(
        lambda odd: unicodedata.normalize("NFKC", odd["forms"] or ""), text.translate(_SYMBOLS)
    )


SMALL = 0.85
RAISED = 0.2
"""How much smaller and higher than the text a superscript is; it is raised by .3 to .5."""
_EXPONENT = re.compile(r"([-+\u2212\u2013]?\d{1,3})(\Z|\W.*)", re.DOTALL)
_POWER = re.compile(r"(?<![\d.,])(?:10|\d)\Z")
_SUPERSCRIPTS = str.maketrans("0123456789-+\u2212\u2013", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁻⁻")


def raise_end(base: str, end: str) -> str:
    """Return text with a superscript at its end; at a number only a power of ten or a digit."""
    match = _EXPONENT.fullmatch(end)
    if not match:
        return base + end
    space = " " if base[-1:].isdigit() and not _POWER.search(base) else ""
    return base + space + match[1].translate(_SUPERSCRIPTS) + match[2]
