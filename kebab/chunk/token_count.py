"""Counts or estimates the tokens of a text."""

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeAlias

Count: TypeAlias = Callable[[Sequence[str]], list[int]]

_MOST_LETTERS = 1_000_000
"""How many letters of words are remembered, in about ten times as many bytes."""


class WordCounter:
    """Counts texts as another does, who is asked once for each word."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._sizes: dict[str, int] = {}
        self._letters = 0

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the size of each text."""
        cut = [_words(text) for text in texts]
        self._learn(cut)
        return [sum(map(self._sizes.__getitem__, words)) for words in cut]

    def _learn(self, cut: Sequence[list[str]]) -> None:
        """Have every word counted that is not known."""
        if self._letters > _MOST_LETTERS:
            self._sizes, self._letters = {}, 0
        new = list(set(chain.from_iterable(cut)).difference(self._sizes))
        self._sizes.update(zip(new, self._count(new), strict=True))
        self._letters += sum(map(len, new))


def _words(text: str) -> list[str]:
    """Return what blanks and line ends divide; a tokenizer may see other blanks otherwise."""
    return text.replace("\n", " ").split(" ")


_WORD = re.compile(r"[A-Za-z]+|[0-9]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_SIGN = re.compile(r"[^\sA-Za-z0-9]")
_CAPITALISED = re.compile(r"[A-Z]+[a-z]*")
_ENGLISH = re.compile(r"\b(?:the|of|and|to|in|is|that|for|it|with|a|are|be|this)\b")
_ENGLISH_SHARE = 0.12
_NAME = 0.8  # names are rarely in the vocabulary
_WIDE_DISCOUNT = 0.5
_ROUNDED_UP = 0.999

_COST_ENGLISH = [1.0] * 4 + [1.25] * 4 + [1.7] * 3 + [length / 4.5 for length in range(11, 16)]
_COST_OTHER = [1.0, 1.0, 1.4] + [max(1.7, length / 1.9) for length in range(3, 16)]
_PER_LETTER_ENGLISH = 1 / 2
_PER_LETTER_OTHER = 1 / 1.5

_UNIT = 3_420
"""Into how many parts a token is divided, so that every price is a whole number of them."""

_BITS = 48
_FIELD = (1 << _BITS) - 1
_MOST_WORDS = 1 << 16
_LONGEST = 64


def estimate(texts: Sequence[str]) -> list[int]:
    """Return how many tokens each text has at most."""
    figures = _FIGURES.__getitem__
    return [_bound(sum(map(figures, text.split()))) for text in texts]


def mixed_counter(tokenizer_count: Count, supports: Callable[[str], bool]) -> Count:
    """Return a counter that asks the tokenizer, and estimates what its model does not know."""
    counter = WordCounter(tokenizer_count)

    def count(texts: Sequence[str]) -> list[int]:
        known = [supports(text) for text in texts]
        counted = iter(counter([text for text, sure in zip(texts, known, strict=True) if sure]))
        return [
            next(counted) if sure else estimate([text])[0]
            for text, sure in zip(texts, known, strict=True)
        ]

    return count


class _Figures(dict[str, int]):
    """The figures of words that have been seen, forgotten when they are too many."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_WORDS:
            self.clear()
        figures = _packed(word)
        if len(word) <= _LONGEST:
            self[word] = figures
        return figures


_FIGURES = _Figures()


def _packed(text: str) -> int:
    """Return the four figures of a stretch without blanks as one integer."""
    lengths = [len(word) for word in _WORD.findall(text)]
    signs = len(_SIGN.findall(text)) - _WIDE_DISCOUNT * len(_WIDE.findall(text))
    both = signs + _NAME * len(_CAPITALISED.findall(text))
    english = sum(_price(length, _COST_ENGLISH, _PER_LETTER_ENGLISH) for length in lengths)
    other = sum(_price(length, _COST_OTHER, _PER_LETTER_OTHER) for length in lengths)
    figures = (
        len(lengths),
        len(_ENGLISH.findall(text)),
        _units(both + english),
        _units(both + other),
    )
    return sum(figure << _BITS * place for place, figure in enumerate(figures))


def _price(length: int, costs: list[float], per_letter: float) -> float:
    """Return what a word costs by its length."""
    return costs[length] if length < len(costs) else length * per_letter


def _units(tokens: float) -> int:
    return round(tokens * _UNIT)


def _bound(total: int) -> int:
    """Return the upper bound for a text of these figures."""
    words, english = total & _FIELD, total >> _BITS & _FIELD
    units = total >> _BITS * (2 if english >= _ENGLISH_SHARE * words else 3) & _FIELD
    return int(units / _UNIT + _ROUNDED_UP)
