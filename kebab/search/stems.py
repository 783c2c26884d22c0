"""Stems: the Snowball algorithm that a word's script calls for.

The language of a text is not asked, so that a query and a passage agree without knowing it: Latin
words take the English rules, whose endings serve other languages as far as they share them.
"""

from collections.abc import Callable
from functools import cache, lru_cache

from kebab.errors.dependency import needed

_SHORTEST, _LONGEST = 3, 40

_RANGES = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0b80", "\u0bff", "tamil"),
)


def _language(word: str) -> str | None:
    """Return the rules for a lower-case word by its first letter."""
    first = word[0]
    if first < "\u0250":
        return "english"
    return next((name for low, high, name in _RANGES if low <= first <= high), None)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Return the stemming function of a language, loaded on first use."""
    with needed("the words of a text", "py-rust-stemmers"):
        from py_rust_stemmers import SnowballStemmer

    stem: Callable[[str], str] = SnowballStemmer(language).stem_word
    return stem


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; short, long and numbered words stay as they are."""
    if not _SHORTEST <= len(word) <= _LONGEST or not word.replace("'", "").isalpha():
        return word
    language = _language(word)
    return (_stemmer(language)(word) or word) if language else word
