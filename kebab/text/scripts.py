r"""Classifies characters: scripts, units of text, and graphemes.

The classes are regular-expression ranges, so that one scan in C splits a text. They hold what
Python's `\w` does not know: which marks belong to the letter before them, and which scripts are
written without blanks between words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983"
    "\u09bc\u09be-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83"
    "\u0abc\u0abe-\u0acd\u0ae2\u0ae3\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7"
    "\u0c00-\u0c04\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03"
    "\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u1ab0-\u1aff\u1dc0-\u1dff"
)
"""Combining marks of scripts that separate words with blanks."""

DENSE = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1050-\u108f\u1100-\u11ff"
    "\u1780-\u17d3\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b-\u303b\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    "\uf900-\ufad9\U0001b000-\U0001b16f\U00020000-\U0003134f"
)
"""Scripts that are cut into bigrams: Han, Kana, Hangul, Bopomofo, Thai, Lao, Myanmar, Khmer."""

_DENSE_RANGES = tuple(zip(DENSE[::3], DENSE[2::3], strict=True))

DENSE_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
"""Marks of the dense scripts; they stay with the letter before them."""

SYMBOLS = (
    "\u00a2-\u00a9\u00ac\u00ae-\u00b1\u00d7\u00f7\u20a0-\u20bf\u2190-\u23ff\u25a0-\u27ff\u2900-\u2bff"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
"""Signs that are searched for by themselves: emoji, arrows, currency, mathematics."""

_LINKED = (
    r"(?:(?<![\w.])\.)?{word}(?:(?:_+|[-.'\u2010\u2019]|(?<=\d),(?=\d)){word})*(?:\+\+|\#(?!\w))?"
)
"""Words that are written as one: `snake_case`, `a.b`, `well-known`, `don't`, `.env`, `c++`."""

_PLAIN = re.compile(_LINKED.replace("{word}", "[A-Za-z0-9]+"))


@cache
def _compile_unit_pattern() -> re.Pattern[str]:
    """Return the scanner for every script; compiling its classes takes milliseconds."""
    word = rf"[^\W_{DENSE}]+(?:[{MARKS}]+[^\W_{DENSE}]*)*"
    return re.compile(rf"{_LINKED.replace('{word}', word)}|[{DENSE}]+|[{SYMBOLS}]")


def iter_unit_matches(text: str) -> Iterator[re.Match[str]]:
    """Return the matches of the units of a text, in order."""
    return (_PLAIN if text.isascii() else _compile_unit_pattern()).finditer(text)


def split_units(text: str) -> list[str]:
    """Return the units of a text: linked words, runs of a dense script, and signs."""
    return (_PLAIN if text.isascii() else _compile_unit_pattern()).findall(text)


@cache
def _compile_cluster_finder() -> Callable[[str], list[str]]:
    """Return the scanner for characters with their marks."""
    return re.compile(f"[{DENSE}][{DENSE_MARKS}]*").findall


_find_mark = re.compile(f"[{DENSE_MARKS}]").search


def split_clusters(run: str) -> list[str]:
    """Return the characters of a dense run, each with its marks."""
    return _compile_cluster_finder()(run) if _find_mark(run) else list(run)


def is_dense(unit: str) -> bool:
    """Return whether a unit is a run of a script without blanks."""
    first = unit[0]
    return first > "\u0e00" and _is_dense_letter(first)


@lru_cache(maxsize=1 << 13)
def _is_dense_letter(letter: str) -> bool:
    return any(low <= letter <= high for low, high in _DENSE_RANGES)


_ANY_LETTER = "[^\\W\\d_]"
_LETTERS = {
    "kana": "[\u3041-\u30ff]",
    "hangul": "[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]",
    "han": "[\u3400-\u9fff]",
    "cyrillic": "[\u0400-\u04ff]",
    "arabic": "[\u0600-\u06ff]",
    "thai": "[\u0e01-\u0e4e]",
    "devanagari": "[\u0900-\u097f]",
    "greek": "[\u0370-\u03ff]",
    "hebrew": "[\u05d0-\u05ea]",
    "latin": (
        "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
        "\u2c60-\u2c7f\ua722-\ua7ff\uff21-\uff3a\uff41-\uff5a]"
    ),
}
"""The letters of each script."""

_DENSITY = 3
"""A letter of Kana, Hangul or Han counts as this many Latin letters.

Technical prose in these scripts is full of Latin names.
"""

_ENOUGH = 0.5


@cache
def _compile_letter_finder(letters: str) -> Callable[[str], list[str]]:
    """Return the scanner for a class of letters; most commands never need it."""
    return re.compile(letters).findall


def count_letters(text: str, script: str) -> int:
    """Return how many letters of a script a text has."""
    return len(_compile_letter_finder(_LETTERS[script])(text))


def detect_script(text: str) -> str | None:
    """Return the script of most of a text, None when it has no letters; Kana counts as `han`."""
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else None
    counts = {script: count_letters(text, script) for script in _LETTERS}
    counts["han"] = _DENSITY * (counts["han"] + counts.pop("kana"))
    counts["hangul"] *= _DENSITY
    # Of scripts with as many letters the eastern ones come first.
    best = max(("han", *counts), key=lambda script: counts[script])
    return best if counts[best] else None


def is_written_in(text: str, scripts: frozenset[str] | None) -> bool:
    """Return whether at least half of the letters belong to some scripts; None means all scripts.

    A text without letters is written in every script: digits and signs belong to all of them.
    """
    if scripts is None or (text.isascii() and "latin" in scripts):
        return True
    letters = len(_compile_letter_finder(_ANY_LETTER)(text))
    return sum(count_letters(text, script) for script in scripts) >= letters * _ENOUGH


_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""


def snap_to_grapheme(text: str, position: int) -> int:
    """Return the last position up to `position` that does not split a grapheme."""
    while 0 < position < len(text) and _splits_grapheme(text, position):
        position -= 1
    return position


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` code points of a text, cut between graphemes and ended by `…`."""
    if len(text) <= limit:
        return text
    position = snap_to_grapheme(text, limit - 1)
    return text[: position or limit - 1].rstrip() + "…"


def _splits_grapheme(text: str, position: int) -> bool:
    """Return whether the characters around a position belong to one grapheme."""
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return _extends(after) or _joins_next(before, after) or _splits_flag(text, position)


def _extends(after: str) -> bool:
    """Return whether a character extends the one before it: marks, joiners, later jamo."""
    return (
        unicodedata.category(after).startswith("M")
        or after == "\u200d"
        or "\u1160" <= after <= "\u11ff"
        or "\ud7b0" <= after <= "\ud7fb"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


def _joins_next(before: str, after: str) -> bool:
    """Return whether a character joins the one that follows it."""
    joins = unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo"
    return before == "\u200d" or joins


def _splits_flag(text: str, position: int) -> bool:
    """Return whether a position splits two regional indicators that make a flag."""
    start = position
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return _is_regional(text[position]) and (position - start) % 2 == 1


def _is_regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"
