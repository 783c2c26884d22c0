"""Estimates how many tokens a text has, without a tokenizer.

The estimate is a sum over words, so that a text of words that were seen before needs one addition
for each.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

_WORD = re.compile(r"[A-Za-z]+|[0-9]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_CAPITALISED = re.compile(r"[A-Z]+[a-z]*")
_COMMON = "the|of|and|to|in|is|that|for|it|with|a|are|be|this"
_ENGLISH = re.compile(rf"\b(?:{_COMMON})\b")
_ENGLISH_SHARE = 0.12
_NAME = 0.8  # names are rarely in the vocabulary
_WIDE_DISCOUNT = 0.5
_ROUNDED_UP = 0.999

_COST_ENGLISH = [1.0] * 4 + [1.25] * 4 + [1.7] * 3 + [length / 4.5 for length in range(11, 16)]
_COST_OTHER = [1.0, 1.0, 1.4] + [max(1.7, length / 1.9) for length in range(3, 16)]
_PER_LETTER_ENGLISH = 1 / 2
_PER_LETTER_OTHER = 1 / 1.5

_UNIT = 3_420
"""The units of a token, chosen so that every estimate is a whole number of units."""

_BITS = 48
_FIELD = (1 << _BITS) - 1
_MAX_WORDS = 1 << 17
_MAX_WORD_CHARS = 64


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Return an upper bound of the tokens of each text."""
    return [round_figures(add_figures(text)) for text in texts]


def add_figures(text: str) -> int:
    """Return the sums of a text; those of two texts with blanks between them add up."""
    return sum(map(_FIGURES.__getitem__, text.split()))


def accumulate_figures(lines: Sequence[str], max_chars: int) -> Iterator[int]:
    """Yield the sums of all lines before each line, and those of all lines.

    Lines that are longer than `max_chars` are left out.
    """
    figures = _FIGURES.__getitem__
    return accumulate(
        (sum(map(figures, line.split())) if len(line) <= max_chars else 0 for line in lines),
        initial=0,
    )


def round_figures(total: int) -> int:
    """Return the upper bound of the tokens of a text with these sums."""
    words, english = total & _FIELD, total >> _BITS & _FIELD
    units = total >> _BITS * (2 if english >= _ENGLISH_SHARE * words else 3) & _FIELD
    return int(units / _UNIT + _ROUNDED_UP)


class _FigureCache(dict[str, int]):
    """Caches the figures of words; it is emptied when it is full."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_WORDS:
            self.clear()
        figures = _pack_figures(word)
        if len(word) <= _MAX_WORD_CHARS:
            self[word] = figures
        return figures


_FIGURES = _FigureCache()


def _pack_figures(text: str) -> int:
    """Pack the four figures of a word into one integer, so that a text needs one sum.

    They are how many runs of letters or digits it has, how many of them are common in English, and
    its tokens in an English text and in another.
    """
    words = _WORD.findall(text)
    figures = sum(map(_RUNS.__getitem__, map(len, words)))
    signs = float(len(text) - len("".join(words)))
    if not text.isascii():
        signs -= _WIDE_DISCOUNT * len(_WIDE.findall(text))
    if not text.islower():
        signs += _NAME * len(_CAPITALISED.findall(text))
    if not _COMMON_WORDS.isdisjoint(words):
        figures += len(_ENGLISH.findall(text)) << _BITS
    return figures + _to_units(signs) * _BOTH if signs else figures


_COMMON_WORDS = frozenset(_COMMON.split("|"))
_BOTH = 1 << _BITS * 2 | 1 << _BITS * 3


def _pack_run(length: int) -> int:
    """Return the packed figures of a run of letters or digits."""
    english = _to_units(_estimate_run(length, _COST_ENGLISH, _PER_LETTER_ENGLISH))
    other = _to_units(_estimate_run(length, _COST_OTHER, _PER_LETTER_OTHER))
    return 1 | english << _BITS * 2 | other << _BITS * 3


def _estimate_run(length: int, costs: list[float], per_letter: float) -> float:
    """Return the tokens of a run by its length."""
    return costs[length] if length < len(costs) else length * per_letter


def _to_units(tokens: float) -> int:
    return round(tokens * _UNIT)


class _RunTable(dict[int, int]):
    """Holds the figures of runs by their length."""

    def __missing__(self, length: int) -> int:
        figures = _pack_run(length)
        if length <= _MAX_WORD_CHARS:
            self[length] = figures
        return figures


_RUNS = _RunTable()
