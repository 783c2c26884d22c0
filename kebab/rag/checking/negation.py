"""Finds negated words, and contradictions between a claim and its evidence.

A word is denied when a negation of its language is before it with no other content word in
between. Chinese, Japanese and Korean sentences are compared as a whole.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from kebab.rag.checking.key_terms import is_content_word
from kebab.text.tokenizer import tokenize

_NEGATION_WORDS = (
    "not no never cannot none neither nor without nicht kein keine keinen keinem keiner nie niemals"
    " ohne pas jamais aucun aucune nunca sin ningún ninguna non mai не"
)
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|[,.;:!?()\"]")
_ONLY = frozenset(("only", "just", "merely", "simply", "least", "necessarily", "until"))
_MAX_DISTANCE = 4
"""The most words between a negation and the word that it denies, that word included."""

_EASTERN = re.compile(
    # Korean, Japanese, Chinese; phrases like "not only" and "different" are excluded.
    "지 ?(?:는 ?)?(?:않|못)|없|아니(?!라)|아닐|아닙|아닌"
    "|ません|(?<=[\u3041-\u309f])(?<![しかけ]か)な(?:い|かっ|く)"
    "|ず(?=[\u3001\u3002に])"
    "|不(?![同仅僅但断斷少过過])|[没沒]|未|[并並]非"
)
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_MIN_OVERLAP = 0.7
"""Two sentences are compared when each contains this share of the other's tokens."""


@dataclass(frozen=True, slots=True)
class Polarity:
    """The denied tokens of some sentences, each with its word, and the affirmed tokens."""

    denied: Mapping[str, str]
    affirmed: Collection[str]


def compute_polarity(sentences: Iterable[str]) -> Polarity:
    """Return the denied and the affirmed tokens of normalized sentences."""
    denied: dict[str, str] = {}
    affirmed: set[str] = set()
    for sentence in sentences:
        found = find_denied_words(sentence)
        denied |= found
        affirmed.update(token for token in tokenize(sentence) if token not in found)
    return Polarity(denied, affirmed)


def find_contradiction(claim: Polarity, other: Polarity) -> str | None:
    """Return the first word that one side always denies and the other always affirms, if any."""
    for one, two in ((claim, other), (other, claim)):
        for token, word in one.denied.items():
            if token not in one.affirmed and token in two.affirmed and token not in two.denied:
                return word
    return None


def find_denied_words(sentence: str) -> dict[str, str]:
    """Return the denied tokens of a sentence, each with its word."""
    words = [found[0] for found in _WORD.finditer(sentence)]
    found: dict[str, str] = {}
    for index, word in enumerate(words):
        if word.lower() in _NEGATIONS or word.lower().endswith("n't"):
            after = words[index + 1 : index + 1 + _MAX_DISTANCE]
            if after and after[0].lower() not in _ONLY:
                clause = takewhile(lambda one: one[0].isalnum(), after)
                denied = next(filter(is_content_word, clause), "")
                found.update(dict.fromkeys(tokenize(denied)[:1], denied))
    return found


def find_reversal(claim: str, sentence: str) -> str | None:
    """Return the negation in only one of two similar Chinese, Japanese or Korean sentences."""
    if not _DENSE.search(claim):
        return None
    ours, theirs = _EASTERN.search(claim), _EASTERN.search(sentence)
    if (ours is None) == (theirs is None):
        return None
    claimed, stated = set(tokenize(claim)), set(tokenize(sentence))
    if len(claimed & stated) < _MIN_OVERLAP * max(len(claimed), len(stated)):
        return None
    negation = ours or theirs
    return negation[0] if negation else None
