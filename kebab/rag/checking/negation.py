"""Negation: the words of a sentence that it denies.

A word is denied when a `not` of its language stands before it with no other word that matters
between, or, in Korean and Japanese, behind it.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from kebab.rag.checking.key_terms import is_content_word
from kebab.text.tokenizer import tokenize

_DENYING = (
    "not no never cannot none neither nor without nicht kein keine keinen keinem keiner nie niemals"
    " ohne pas jamais aucun aucune nunca sin ningún ninguna non mai не"
)
_BEFORE = frozenset(_DENYING.split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|[,.;:!?()\"]")
_ONLY = frozenset(("only", "just", "merely", "simply", "least", "necessarily", "until"))
_NEXT = 4
"""How many words behind a negation are looked at for the one that it denies."""

_EASTERN = re.compile(
    # Korean, Japanese, Chinese; without words like "not only" and "different"
    "지 ?(?:는 ?)?(?:않|못)|없|아니(?!라)|아닐|아닙|아닌"
    "|ません|(?<=[\u3041-\u309f])(?<![しかけ]か)な(?:い|かっ|く)"
    "|ず(?=[\u3001\u3002に])"
    "|不(?![同仅僅但断斷少过過])|[没沒]|未|[并並]非"
)
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_ALIKE = 0.7
"""Two sentences in an eastern script are compared when each holds this share of the other."""


@dataclass(frozen=True, slots=True)
class Polarity:
    """The tokens that sentences deny, each with its word, and those that they do not."""

    denied: Mapping[str, str]
    affirmed: Collection[str]


def compute_polarity(sentences: Iterable[str]) -> Polarity:
    """Return what sentences in their normal form deny and what they say."""
    every: dict[str, str] = {}
    said: set[str] = set()
    for sentence in sentences:
        found = find_denied_words(sentence)
        every |= found
        said.update(token for token in tokenize(sentence) if token not in found)
    return Polarity(every, said)


def find_contradiction(claim: Polarity, other: Polarity) -> str | None:
    """Return the first word that one denies and the other only says, if any."""
    odd = _only_denied(claim, other) or _only_denied(other, claim)
    return odd[0] if odd else None


def _only_denied(here: Polarity, there: Polarity) -> list[str]:
    """Return the words that one side always denies and the other never does."""
    return [
        word
        for token, word in here.denied.items()
        if token not in here.affirmed and token in there.affirmed and token not in there.denied
    ]


def find_denied_words(sentence: str) -> dict[str, str]:
    """Return the tokens that a sentence denies, each with its word."""
    words = [found[0] for found in _WORD.finditer(sentence)]
    found: dict[str, str] = {}
    for index, word in enumerate(words):
        if word.lower() in _BEFORE or word.lower().endswith("n't"):
            after = words[index + 1 : index + 1 + _NEXT]
            if after and after[0].lower() not in _ONLY:
                found.update(_first(after))
    return found


def _first(words: list[str]) -> dict[str, str]:
    """Return the token of the first word that matters."""
    near = takewhile(lambda word: word[0].isalnum(), words)
    word = next(filter(is_content_word, near), "")
    return dict.fromkeys(tokenize(word)[:1], word)


def find_reversal(claim: str, sentence: str) -> str | None:
    """Return the negation that only one of two sentences of an eastern script holds.

    They are compared when they are alike.
    """
    if not _DENSE.search(claim):
        return None
    ours, theirs = _EASTERN.search(claim), _EASTERN.search(sentence)
    if (ours is None) == (theirs is None):
        return None
    said, there = set(tokenize(claim)), set(tokenize(sentence))
    if len(said & there) < _ALIKE * max(len(said), len(there)):
        return None
    odd = ours or theirs
    return odd[0] if odd else None
