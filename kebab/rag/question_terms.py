"""Extracts the key terms of a question: its names, its numbers, its codes and its other words.

Names are recognised by their capitals, as runs of Katakana, and as Latin words in a text of a
script without blanks. Capitals mean nothing in German and in a title, so the words there are plain.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from kebab.search.query_parser import strip_stop_words
from kebab.text.normalize import normalize_for_index
from kebab.text.scripts import is_dense, iter_unit_matches
from kebab.text.tokenizer import tokenize_unit

_ANCHOR = "\u00a7x"
"""A content word before the tested word, because the last remaining word is never removed."""

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{3,}")
_NUMBER = re.compile(r"\d[\d,.]*(?:st|nd|rd|th|s)?")
_CODE = re.compile(r"(?=.*(?:\d|_|[a-z][A-Z]|\w\.\w|[+#]$)).+")
_ENDS_SENTENCE = re.compile(r"(?:\A|[.!?:;\"\u201c\u2014])[\s\"\u201c*_(]*$")
_LOOK_BEHIND = 6
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_ASKS = ("?", "\uff1f", "\u061f")

MAX_WORDS = 64
"""The most content words that are read; a pasted page is no question about each of its words."""

_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_CALENDAR = frozenset(f"{_MONTHS} {_DAYS}".lower().split())
"""Words with a capital that are no names: notes may write a day as a date."""


_TITLE_WORDS = 100
"""The words that show whether a text is a title."""


class TermKind(StrEnum):
    """The kind of a key term."""

    NAME = "name"
    CODE = "code"
    """An identifier, a version, a file or a word with digits."""
    NUMBER = "number"
    WORD = "word"


class QuestionTerm(NamedTuple):
    """A key term as the question words it, with its kind and the index tokens of each word."""

    text: str
    kind: TermKind
    words: tuple[tuple[str, ...], ...]
    parts: tuple[str, ...]
    """The words, as many as `words`."""

    def split_words(self) -> "tuple[QuestionTerm, ...]":
        """Return one term for each word."""
        return tuple(
            QuestionTerm(part, self.kind, (tokens,), (part,))
            for part, tokens in zip(self.parts, self.words, strict=True)
        )


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    kind: TermKind


def select_asking_sentences(question: str) -> str:
    """Return the sentences that end in a question mark; all if there is none.

    The others tell about the person who asks: `I use Emacs. How do I restore a backup?`
    """
    asking = [part for part in _SENTENCE_END.split(question.strip()) if part.endswith(_ASKS)]
    return " ".join(asking) or question


def extract_question_terms(question: str, *, nouns: bool = False) -> tuple[QuestionTerm, ...]:
    """Return the key terms of a question in order; adjacent words of a name are one term.

    Args:
        question: The question.
        nouns: Whether its language capitalises every noun.
    """
    text = normalize_for_index(question)
    capitals = not nouns and _uses_capitals_for_names(text)
    words = list(islice(_classify_words(text, capitals=capitals), MAX_WORDS))
    terms: list[QuestionTerm] = []
    for _, group in groupby(_number_names(text, words), key=lambda pair: pair[0]):
        found = [word for _, word in group]
        parts = tuple(word.text.removesuffix("'s") for word in found)
        tokens = tuple(tokenize_unit(word.text) for word in found)
        terms.append(QuestionTerm(" ".join(parts), found[0].kind, tokens, parts))
    return tuple(dict.fromkeys(terms))


@lru_cache(maxsize=4096)
def is_content_word(word: str) -> bool:
    """Return whether a word is no stop word."""
    return len(strip_stop_words(f"{_ANCHOR} {word.lower()}").split()) > 1


def _number_names(text: str, words: list[_Word]) -> Iterator[tuple[int, _Word]]:
    """Yield each word with a number that adjacent words of a name share."""
    number = 0
    before: _Word | None = None
    for word in words:
        joins = (
            before is not None
            and word.kind is before.kind is TermKind.NAME
            and text[before.end : word.start] == " "
        )
        number += not joins
        before = word
        yield number, word


def _classify_words(text: str, *, capitals: bool) -> Iterator[_Word]:
    """Yield the content words of a text with their kinds."""
    units = list(iter_unit_matches(text))
    eastern = any(is_dense(unit[0]) for unit in units)
    for unit in units:
        word = unit[0]
        if is_dense(word):
            for run in _KATAKANA.finditer(word):
                start = unit.start() + run.start()
                yield _Word(start, start + len(run[0]), run[0], TermKind.NAME)
        elif word[0].isalnum() or word[0] == ".":
            kind = _classify_word(text, unit, capitals=capitals, eastern=eastern)
            if kind in {TermKind.NUMBER, TermKind.CODE} or is_content_word(word):
                yield _Word(*unit.span(), word, kind)


def _classify_word(text: str, unit: re.Match[str], *, capitals: bool, eastern: bool) -> TermKind:
    word = unit[0]
    if _NUMBER.fullmatch(word):
        return TermKind.NUMBER
    if _CODE.fullmatch(word) or text.endswith("--", 0, unit.start()):
        return TermKind.CODE
    if word.lower() in _CALENDAR:
        return TermKind.WORD
    if eastern or (capitals and word[0].isupper() and not _opens_sentence(text, unit)):
        return TermKind.NAME if len(word) > 1 else TermKind.WORD
    return TermKind.WORD


def _opens_sentence(text: str, unit: re.Match[str]) -> bool:
    """Return whether a word has its capital from its place; an acronym never has."""
    word = unit[0]
    opens = _starts_sentence(text, unit)
    after = text[unit.end() : unit.end() + 2]
    joined = after[:1] == " " and after[1:].isupper()
    return opens and not (word.isupper() and len(word) > 1) and not joined


def _uses_capitals_for_names(text: str) -> bool:
    """Return whether capitals mark names, which they do not in a title or in a shouted text."""
    capitals = (
        unit for unit in islice(iter_unit_matches(text), _TITLE_WORDS) if unit[0][0].isupper()
    )
    return not any(
        unit[0] != "I" and not is_content_word(unit[0]) and not _starts_sentence(text, unit)
        for unit in capitals
    )


def _starts_sentence(text: str, unit: re.Match[str]) -> bool:
    before = text[max(0, unit.start() - _LOOK_BEHIND) : unit.start()]
    return unit.start() == 0 or _ENDS_SENTENCE.search(before) is not None
