r"""Classes of characters that the tokenizer and the highlighter share.

They are written as regular-expression ranges, so that one scan in C splits a text. The tables hold
what Python's `\w` does not know: which marks belong to the letter before them, and which scripts
are written without blanks between words.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

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

_DENSE_RANGES = (
    ("\u0e01", "\u0e3a"),
    ("\u0e40", "\u0e4e"),
    ("\u0e80", "\u0ece"),
    ("\u1000", "\u103f"),
    ("\u1050", "\u108f"),
    ("\u1100", "\u11ff"),
    ("\u1780", "\u17d3"),
    ("\u3005", "\u3007"),
    ("\u3021", "\u3029"),
    ("\u3031", "\u3035"),
    ("\u303b", "\u303b"),
    ("\u3041", "\u3096"),
    ("\u309d", "\u309f"),
    ("\u30a1", "\u30fa"),
    ("\u30fc", "\u30ff"),
    ("\u3105", "\u312f"),
    ("\u3131", "\u318e"),
    ("\u31a0", "\u31bf"),
    ("\u31f0", "\u31ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\ua960", "\ua97c"),
    ("\uac00", "\ud7a3"),
    ("\ud7b0", "\ud7fb"),
    ("\uf900", "\ufad9"),
    ("\U0001b000", "\U0001b16f"),
    ("\U00020000", "\U0003134f"),
)
DENSE = "".join(f"{low}-{high}" for low, high in _DENSE_RANGES)
"""Scripts that are cut into bigrams: Han, Kana, Hangul, Bopomofo, Thai, Lao, Myanmar, Khmer."""

DENSE_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
"""Marks of the dense scripts; they stay with the letter before them."""

SYMBOLS = (
    "\u00a2-\u00a9\u00ac\u00ae-\u00b1\u00d7\u00f7\u20a0-\u20bf\u2190-\u23ff\u25a0-\u27ff\u2900-\u2bff"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
"""Signs that a person may look for by themselves: emoji, arrows, currency, mathematics."""

INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff]")
"""Soft hyphens, zero-width signs, variation selectors, skin tones: never part of a token."""

_LINKED = (
    r"(?:(?<![\w.])\.)?{word}(?:(?:_+|[-.'\u2010\u2019]|(?<=\d),(?=\d)){word})*(?:\+\+|\#(?!\w))?"
)
"""Words that are written as one: `snake_case`, `a.b`, `well-known`, `don't`, `.env`, `c++`."""

_PLAIN = re.compile(_LINKED.replace("{word}", "[A-Za-z0-9]+"))


@cache
def _any() -> re.Pattern[str]:
    """Return the scanner for every script; compiling its classes takes milliseconds."""
    word = rf"[^\W_{DENSE}]+(?:[{MARKS}]+[^\W_{DENSE}]*)*"
    return re.compile(rf"{_LINKED.replace('{word}', word)}|[{DENSE}]+|[{SYMBOLS}]")


def found_units(text: str) -> Iterator[re.Match[str]]:
    """Return the units of a text with where they stand."""
    return (_PLAIN if text.isascii() else _any()).finditer(text)


def unit_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the units of a text stand."""
    for found in found_units(text):
        yield found.span()


def units(text: str) -> list[str]:
    """Return what the tokenizer looks at one by one: linked words, dense runs and signs."""
    return (_PLAIN if text.isascii() else _any()).findall(text)


@cache
def _clusters() -> Callable[[str], list[str]]:
    """Return the scanner for characters with their marks."""
    return re.compile(f"[{DENSE}][{DENSE_MARKS}]*").findall


_marked = re.compile(f"[{DENSE_MARKS}]").search


def clusters(run: str) -> list[str]:
    """Return the characters of a dense run, marks with the letter that carries them."""
    return _clusters()(run) if _marked(run) else list(run)


def is_dense(unit: str) -> bool:
    """Return whether a unit is a run of a script without blanks."""
    first = unit[0]
    return first > "\u0e00" and any(low <= first <= high for low, high in _DENSE_RANGES)
