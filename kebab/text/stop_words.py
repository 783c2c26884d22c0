"""Knows the words of grammar: stop words, question words and other function words.

Each word stands once for a language, in one of the tables of `words.json`. Question words and stop
words are dropped from queries. The other function words stay in queries, where `over` may be the
word that decides, but as a word that two documents share, or that occurs nowhere, they say nothing.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache

from kebab.errors.system import translate_import_errors
from kebab.text.normalize import load_words

QUESTION_WORDS = load_words("question_words")
"""The words that open a question."""

AUXILIARIES = load_words("auxiliaries")
"""The verbs that open a question as its first word."""

_STOP_WORDS, _OTHER_WORDS = load_words("stop_words"), load_words("other_words")

LATIN_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "pl", "tr", "vi")
"""The languages that are told apart by these words, not by their script."""

_CONTENT = frozenset(("comment", "hoe"))
"""Question words of French and Dutch that stay in queries, because they are nouns in English."""


def _collect_words(*tables: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for table in tables for words in table.values() for word in words.split())


_ASKING = _collect_words(QUESTION_WORDS)
_DROPPED = (_ASKING | _collect_words(_STOP_WORDS)) - _CONTENT
_FUNCTION_WORDS = _DROPPED | _CONTENT | _collect_words(AUXILIARIES, _OTHER_WORDS)
_PUNCTUATION = ".,;:!?\"'()[]\u00bf\u00a1\u061f…\u0964"

_is_grammar = re.compile(
    "[ぁ-\u309f]+|[가-힣]*(?:니다|니까|세요|십시오|시오|어요|아요|해요)"
).fullmatch
"""Hiragana alone, and words of Hangul with the ending of a sentence."""


def is_question_word(word: str) -> bool:
    """Return whether a lower-case word opens questions in some language."""
    return word in _ASKING


def is_stop_word(word: str) -> bool:
    """Return whether a word is dropped from queries: a stop word or question word of a language."""
    return word.strip(_PUNCTUATION).lower() in _DROPPED


def is_function_word(word: str) -> bool:
    """Return whether a written word is a function word of any language."""
    lower = word.lower()
    found = lower in _FUNCTION_WORDS or lower.strip(_PUNCTUATION) in _DROPPED
    return found or _is_grammar(lower) is not None


def strip_stop_words(text: str) -> str:
    """Return a query without stop words and question words, or all of it if nothing is left."""
    words = text.split()
    left = [word for word in words if not is_stop_word(word)]
    return " ".join(left) if any(any(map(str.isalnum, word)) for word in left) else text


@cache
def list_languages_of_words() -> dict[str, list[str]]:
    """Return the languages in Latin script of each of their function words."""
    tables = (QUESTION_WORDS, AUXILIARIES, _STOP_WORDS, _OTHER_WORDS)
    found: dict[str, list[str]] = {}
    for code in LATIN_LANGUAGES:
        for word in dict.fromkeys(" ".join(table.get(code, "") for table in tables).split()):
            found.setdefault(word, []).append(code)
    return found


def find_opened_language(word: str) -> str | None:
    """Return the language whose questions a lower-case word opens, if it is a word of no other."""
    languages = list_languages_of_words().get(word, ())
    if len(languages) != 1 or word in _CONTENT:
        return None
    (code,) = languages
    opens = f"{QUESTION_WORDS.get(code, '')} {AUXILIARIES.get(code, '')}".split()
    return code if word in opens else None


def is_listed_stop_word(word: str) -> bool:
    """Return whether a word is in the list of stop words of any of 56 languages.

    English is not among them: its list has words such as `fire` and `system`. Nor are digits.
    """
    lower, lists = word.lower(), load_stop_words().items()
    return not lower.isdecimal() and any(lower in words for code, words in lists if code != "en")


def reads_as_another_language(words: Collection[str], code: str, *, asks: bool) -> bool:
    """Return whether more of some words are stop words of another language than of the given one.

    One such word tells too little, but a question without a stop word is in another language.
    """
    lists, lower = load_stop_words(), {word.lower() for word in words}
    most = max(len(lower & listed) for listed in lists.values())
    if code not in lists:
        return False
    own = len(lower & lists[code])
    return (asks and not own) or most >= max(2, own + 1)


@cache
def load_stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of 57 languages by code; the import takes about 20 ms."""
    with translate_import_errors("the words of a text", "stopwordsiso"):
        import stopwordsiso

    return {code: frozenset(stopwordsiso.stopwords(code)) for code in stopwordsiso.langs()}


QUESTION_BIGRAMS = _collect_words(load_words("question_bigrams"))
"""The bigrams of question words and endings in scripts without blanks."""
