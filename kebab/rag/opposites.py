"""Finds words of a question whose opposite is what a sentence says, and negated questions.

Only English: the lists are short, and a miss costs nothing but a doubt that is not raised.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from kebab.text.tokenizer import collect_tokens, tokenize

_PAIRS = (
    "more less, more fewer, most least, most fewest, first last, before after, north south, "
    "northern southern, east west, eastern western, northeast southwest, high low, higher "
    "lower, highest lowest, large small, larger smaller, largest smallest, big small, bigger "
    "smaller, biggest smallest, long short, longer shorter, longest shortest, early late, "
    "earlier later, earliest latest, earliest last, old new, older newer, older younger, oldest "
    "youngest, oldest newest, win lose, won lost, victory defeat, rich poor, good bad, better "
    "worse, best worst, inside outside, above below, upper lower, top bottom, begin end, began "
    "ended, begin stop, start stop, started stopped, start end, started ended, positive "
    "negative, public private, maximum minimum, male female, man woman, men women, strong weak, "
    "stronger weaker, strongest weakest, easy difficult, easy hard, simple complex, include "
    "exclude, major minor, majority minority, cause prevent, allow forbid, allow prohibit, "
    "accept reject, gain lose, gained lost, rise fall, rose fell, increase decrease, increase "
    "reduce, increase decline, gain loss, same different, always never, all none, support "
    "oppose, hard soft, hardest softest, fast slow, faster slower, fastest slowest, internal "
    "external, domestic foreign, rural urban, buy sell, bought sold, enter leave, entered left, "
    "birth death, born died, open closed, open close, wet dry, hot cold, hottest coldest, warm "
    "cold, light dark, common rare, expand contract, success failure, succeed fail, succeeded "
    "failed, primary secondary, modern ancient, natural artificial, import export, create "
    "destroy, created destroyed, build destroy, built destroyed, attack defend, love hate, "
    "remember forget, push pull, give take, gave took, remove add, removed added, enable "
    "disable, enabled disabled, thick thin, thicker thinner, deep shallow, heavy light, near "
    "far, nearest farthest, closest farthest, winter summer, day night, wealthy poor, "
    "wealthiest poorest, encrypt decrypt, upload download, client server, encode decode, "
    "acquire sell, hire fire"
)
_NEGATION = re.compile(r"\b(?:not|never|cannot|\w+n['\u2019]t)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|no|never|cannot|neither|nor|none|nobody|nothing|without|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_ASKS_FOR_FACT = re.compile(
    r"[^\w]*(?:\w+\s+)?(?:who|whom|whose|what|which|where|when|how (?:many|much|long|often|far))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\b(?:if|when|while|because|although|unless|so that|do i|can i|should i|i|my|we|our|you)\b",
    re.IGNORECASE,
)
_PREFIXES = ("un", "in", "im", "non", "dis", "ir", "il")
_MIN_BASE = 4
_FIRST_LETTERS = 3
"""Two forms of a word share so many letters; all forms of one stem are compared."""


@cache
def _group_pairs() -> dict[str, list[tuple[str, str]]]:
    """Return the pairs in both directions by the first letters of their first word."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for pair in _PAIRS.split(", "):
        one, other = pair.split()
        grouped.setdefault(one[:_FIRST_LETTERS], []).append((one, other))
        grouped.setdefault(other[:_FIRST_LETTERS], []).append((other, one))
    return grouped


def _list_opposites(word: str) -> Iterator[str]:
    """Yield the index tokens of the opposites of a word in any of its forms."""
    token = tokenize(word)[0]
    for one, other in _group_pairs().get(word[:_FIRST_LETTERS].lower(), ()):
        if tokenize(one)[0] == token:
            yield tokenize(other)[0]


def find_opposite(words: Iterable[str], sentence: str, passage: Collection[str]) -> str | None:
    """Return the first word that a passage lacks while a sentence of it has its opposite.

    Args:
        words: The words of the question.
        sentence: The quoted sentence.
        passage: The tokens of the passage around it.
    """
    said = collect_tokens(sentence)
    for word in words:
        token = tokenize(word)[0]
        if token in said:
            continue
        if not said.isdisjoint(_list_opposites(word)):
            return word
        if token not in passage and _denies(word, said):
            return word
    return None


def _denies(word: str, said: Collection[str]) -> bool:
    """Return whether a word is a word of a sentence with a negative prefix."""
    lower = word.lower()
    bases = (lower[len(prefix) :] for prefix in _PREFIXES if lower.startswith(prefix))
    return any(len(base) >= _MIN_BASE and tokenize(base)[0] in said for base in bases)


def find_unmatched_negation(question: str, sentence: str) -> str | None:
    """Return the negation of a question for a fact when the sentence denies nothing.

    A question about a problem (`why does it not start`, `what if I cannot log in`) is no such one.
    """
    negation = _NEGATION.search(question)
    if negation is None or _DENIAL.search(sentence):
        return None
    opener = _ASKS_FOR_FACT.match(question)
    if opener is None or _CLAUSE.search(question, opener.end()):
        return None
    return negation[0]
