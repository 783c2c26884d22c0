"""Cleans extracted text, and decides whether it is language or what a broken font leaves."""

import re
import unicodedata

_FEW = 20
_UNREADABLE_SHARE = 0.25
_LATIN_LETTERS = 120
_LATIN_SHARE = 0.7
_VOWEL_SHARE = 0.25
"""The least share of vowels in Latin letters: languages have .35 to .5, a shifted code .14."""

_SPACES = re.compile(r"\s+")
_UNREADABLE = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\ufffd\U000f0000-\U0010ffff]"
)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_NOT_LATIN = re.compile("[^A-Za-z\u00aa-\u024f]+")


def is_legible(text: str) -> bool:
    """Return whether a text can be read, as far as its characters tell.

    A font without a table of its letters gives private characters, control characters, or the
    letters of another code, whose statistics are those of no language.
    """
    visible = _SPACES.sub("", text)
    unreadable = (
        0 if visible.isascii() and visible.isprintable() else len(_UNREADABLE.findall(visible))
    )
    if len(visible) < _FEW:
        return not visible or unreadable < len(visible)
    if unreadable > _UNREADABLE_SHARE * len(visible):
        return False
    letters = "".join(_WORDS.findall(text))
    latin = letters if letters.isascii() else _NOT_LATIN.sub("", letters)
    if len(latin) < max(_LATIN_LETTERS, _LATIN_SHARE * len(letters)):
        return True
    bases = latin if latin.isascii() else unicodedata.normalize("NFD", latin)
    vowels = sum(map(bases.lower().count, "aeiouy\u00e6\u00f8\u0153\u0131"))
    return vowels >= _VOWEL_SHARE * len(latin)


_SYMBOLS = {
    **{
        0xFB00 + number: text
        for number, text in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))
    },
    # Bullets of the fonts Symbol and Wingdings.
    **dict.fromkeys((0xF0B7, 0xF0A7, 0xF076, 0xF0D8, 0xF0FC), "\u2022"),
    0x00AD: None,
    0x200B: None,
    0xFEFF: None,
    0xFFFE: "-",
}
_UNWANTED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ufff0-\ufffb\uffff]+")


def clean_text(text: str) -> str:
    """Return text without ligatures, soft hyphens and control characters."""
    return (
        text
        if text.isascii() and text.isprintable()
        else _UNWANTED.sub("", text.translate(_SYMBOLS))
    )
