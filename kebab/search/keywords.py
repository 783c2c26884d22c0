"""Extracts the keywords of a document, and finds the words that documents share."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kebab.core.ports import LibraryReader
from kebab.search import snippet
from kebab.search.function_words import is_function_word
from kebab.search.lexical import COMMON_SHARE, compute_rarity, quote_term
from kebab.search.query_parser import strip_stop_words
from kebab.text.tokenizer import Term, tokenize

MAX_KEYWORDS = 64
"""Page r@5 on the links of k8s-links-ko: .532 with 32 keywords, .549 with these."""

_MAX_COUNTED = 1_000
"""How many of the most frequent tokens of a document are looked up in the index."""

_MAX_SHARED = 6
_MIN_LETTERS = 2


@dataclass(frozen=True, slots=True)
class DocumentKeywords:
    """The keywords of a document with their weights, the heaviest first."""

    weights: Mapping[str, float]

    def build_match_expression(self) -> str:
        """Return the FTS5 expression for chunks with any of the keywords."""
        return " OR ".join(quote_term(Term(token)) for token in self.weights)

    def select_held(self, text: str) -> Mapping[str, float]:
        """Return the keywords that a text holds."""
        held = set(tokenize(text))
        return {token: weight for token, weight in self.weights.items() if token in held}


def extract_keywords(library: LibraryReader, texts: Iterable[str]) -> DocumentKeywords:
    """Return the keywords of texts: frequent in them, but not in most chunks of the library."""
    counts = Counter(token for text in texts for token in tokenize(strip_stop_words(text)))
    frequent = dict(counts.most_common(_MAX_COUNTED))
    total = library.count_chunks()
    held = library.get_document_frequencies(frequent)
    weights = {
        token: (1 + math.log(count)) * compute_rarity(held[token], total)
        for token, count in frequent.items()
        if 1 < held[token] <= max(2, total * COMMON_SHARE)
    }
    heaviest = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:MAX_KEYWORDS]
    return DocumentKeywords(dict(heaviest))


def find_shared_words(keywords: DocumentKeywords, texts: Iterable[str]) -> list[str]:
    """Return the words of texts that match keywords, as they are written, the heaviest first.

    Of words with the same tokens the first counts. No word is part of a heavier one, and none is a
    function word.
    """
    found: dict[tuple[str, ...], tuple[float, str]] = {}
    for text in texts:
        whole = snippet.cut_snippet(text, keywords.weights, len(text))
        for start, end in whole.highlights:
            word = whole.text[start:end]
            tokens = tuple(tokenize(word))
            weight = sum(keywords.weights[token] for token in keywords.weights.keys() & tokens)
            if len(word) >= _MIN_LETTERS and weight and not is_function_word(word):
                found.setdefault(tokens, (weight, word))
    shared: list[str] = []
    for _, word in sorted(found.values(), key=lambda one: (-one[0], one[1])):
        if not any(word.casefold() in one.casefold() for one in shared):
            shared.append(word)
    return shared[:_MAX_SHARED]
