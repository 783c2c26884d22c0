"""Telling words: what a document is about, by the words that are frequent in it and rare elsewhere.

As a question they find its neighbours; those that a neighbour shares say why it is one.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kebab.core.ports import LibraryReader
from kebab.search import expression, snippet
from kebab.search.lexical import COMMON, rarity
from kebab.search.questions import matter
from kebab.text.tokenizer import Term, tokenize

MOST_TERMS = 64
"""Page r@5 on the links of k8s-links-ko: .532 with 32 terms, .549 with these."""

_COUNTED = 1_000
"""The most different tokens whose frequency is looked up: of a book the most frequent ones."""

_SHOWN = 6
_LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class Telling:
    """The most telling tokens of a document, each with its weight, the heaviest first."""

    weights: Mapping[str, float]

    @property
    def match(self) -> str:
        """The expression that finds chunks with any of them."""
        return expression.any_of(expression.quoted(Term(token)) for token in self.weights)

    def within(self, text: str) -> Mapping[str, float]:
        """Return those of the tokens that a text holds."""
        held = set(tokenize(text))
        return {token: weight for token, weight in self.weights.items() if token in held}


def telling(library: LibraryReader, texts: Iterable[str]) -> Telling:
    """Return the most telling tokens of texts; tokens of most chunks tell nothing."""
    counts = Counter(token for text in texts for token in tokenize(matter(text)))
    kept = dict(counts.most_common(_COUNTED))
    total = library.chunk_count()
    held = library.document_frequency(kept)
    weights = {
        token: (1 + math.log(count)) * rarity(held[token], total)
        for token, count in kept.items()
        if 1 < held[token] <= max(2, total * COMMON)
    }
    heaviest = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:MOST_TERMS]
    return Telling(dict(heaviest))


def shared(words: Telling, texts: Iterable[str]) -> list[str]:
    """Return the telling words that stand in texts, as they are written there, best first."""
    found: dict[str, tuple[float, str]] = {}
    for text in texts:
        whole = snippet.cut(text, words.weights, len(text))
        for start, end in whole.highlights:
            written = whole.text[start:end]
            tokens = frozenset(tokenize(written)) & words.weights.keys()
            worth = sum(words.weights[token] for token in tokens)
            if len(written) >= _LEAST_LETTERS and worth:
                found.setdefault(_alike(written), (worth, written))
    return _distinct(found.values())


def _distinct(found: Iterable[tuple[float, str]]) -> list[str]:
    """Return the best words, none of which is a part of a better one."""
    kept: list[str] = []
    for _, written in sorted(found, key=lambda one: (-one[0], one[1])):
        if not any(written.casefold() in one.casefold() for one in kept):
            kept.append(written)
        if len(kept) == _SHOWN:
            break
    return kept


def _alike(written: str) -> str:
    """Return what different forms of one word have in common: its tokens in order."""
    return " ".join(tokenize(written))
