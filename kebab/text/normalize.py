"""Normalizes text for the index, for comparison, and for output as UTF-8.

It also compiles regular expressions when they are first used: compiling one takes up to some
milliseconds, and a short command uses few of the patterns of the modules that it imports.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec


class LazyPattern:
    """A pattern that is compiled at the first access to an attribute of `re.Pattern`."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)  # the next access does not come here
        return value


def compile_lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that behaves like a compiled one, and is compiled at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))


_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff]"
)
"""Soft hyphens, zero-width signs, variation selectors, skin tones: never part of a token."""

_ARABIC_JOINER = re.compile("(?<=[\u0600-\u06ff])\u200c(?=[\u0600-\u06ff])")
"""What stands between a word of Persian and its ending or prefix, which are parts of a compound."""

RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_ZEROS = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0"
    "\u0f20\u1040\u1090\u17e0\u1810"
)
_DIGITS = {ord(zero) + value: str(value) for zero in _ZEROS for value in range(10)} | {0xD7: "x"}
"""The digits of scripts other than Latin, and the sign between the sides of a thing."""

_EXPONENT = re.compile(f"[⁺⁻{RAISED_DIGITS}¼-¾⅐-⅞]+")

_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("“”„«»「」『』｢｣", '"'),
        **dict.fromkeys("‘’‚′", "'"),
        **dict.fromkeys("\u2010\u2011\u2012–—\u2212", "-"),
        **dict.fromkeys("*`\u00ad\u200b\u2060\ufeff", None),
    }
)


def split_names(names: str) -> frozenset[str]:
    """Return the names of a table that is written as one text with blanks."""
    return frozenset(names.split())


@cache
def _read_words() -> dict[str, dict[str, str]]:
    lists = Path(__file__).with_name("words.json").read_bytes()
    return msgspec.json.decode(lists, type=dict[str, dict[str, str]])


def load_words(table: str) -> Mapping[str, str]:
    """Return the rows of a table of `words.json`, such as stop words by the code of a language."""
    return _read_words()[table]


def normalize_for_index(text: str) -> str:
    """Return the text in NFKC with ASCII digits, without invisible characters.

    A raised number or a fraction does not join the digits before it: `10⁵` is `10^5`, and not
    `105`. Behind a letter it is a part of a compound: `m²` is `m_2`, whose tokens are `m`, `2` and
    `m2`.
    """
    if text.isascii():
        return text
    if "\u200c" in text:
        text = _ARABIC_JOINER.sub("-", text)
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", _EXPONENT.sub(_separate_exponent, text))
    return _INVISIBLE.sub("", text).translate(_DIGITS)


def _separate_exponent(found: re.Match[str]) -> str:
    before = found.string[max(found.start() - 1, 0) : found.start()]
    digits = found[0].strip("⁺⁻")
    if not digits or not before.isalnum():
        return found[0]
    return f"^{digits}" if before.isdecimal() else f"_{digits}"


def normalize_punctuation(text: str) -> str:
    """Return a text in NFKC with plain quotes and dashes, without signs of emphasis."""
    return unicodedata.normalize("NFKC", text).translate(_PUNCTUATION)


def fold_text(text: str) -> str:
    """Return a text with plain punctuation, in lower case and with single blanks."""
    return " ".join(normalize_punctuation(text).lower().split())


def fold_name(name: str) -> str:
    """Return a name in the form in which names are compared."""
    return unicodedata.normalize("NFC", name).casefold().strip()


def count_alike(one: str, other: str) -> int:
    """Return how many characters at their beginning two texts share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def blank_spans(text: str, spans: Iterable[tuple[int, int]], sign: str = " ") -> str:
    """Return a text with a sign in place of each one in spans that are in order and apart."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += (text[position:start], sign * (end - start))
        position = end
    return "".join([*parts, text[position:]])


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order; those that overlap or touch are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without white space at its ends."""
    part = text[start:end]
    left = start + len(part) - len(part.lstrip())
    return left, left + len(part.strip())
