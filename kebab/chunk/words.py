"""Counts that are remembered word by word, since a tokenizer takes far longer than a look-up.

A tokenizer never joins what blanks divide, so the words of a text have as many tokens together as
the text. The few thousand words of a language are counted once, and not in every block that has
them and in every chunk that is made of blocks.
"""

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
