"""Folding: text in the one form in which words are compared, whatever marks and quotes it wears."""

import re
import unicodedata
from collections.abc import Iterable

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\uff62\uff63", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("*`\u00ad\u200b\u2060\ufeff", None),
    }
)
_SPACE = re.compile(r"\s+")


def normal(text: str) -> str:
    """Return a text in NFKC with plain quotes and dashes, without signs of emphasis."""
    return unicodedata.normalize("NFKC", text).translate(_QUOTES)


def folded(text: str) -> str:
    """Return a normal text in lower case with single blanks."""
    return _SPACE.sub(" ", normal(text).lower()).strip()


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with spaces for some stretches of it, which are in order and apart."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (text[at:start], " " * (end - start))
        at = end
    return "".join([*parts, text[at:]])
