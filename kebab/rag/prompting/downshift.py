"""Downshifting: less evidence and a shorter answer after an overflow or a cut-off answer.

Passages keep their markers, so what was streamed and warned of stays true.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from kebab.core.answer import Passage
from kebab.rag.prompting.cut import halves
from kebab.rag.prompting.fence import cost
from kebab.search.questions import matter
from kebab.text.tokenizer import build_query_terms, tokenize

MAX_DOWNSHIFTS = 2
"""How often a question is asked again with less."""

_TENTHS = 7
_LEAST_ANSWER = 16

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Load:
    """What one attempt sends, and the most tokens it may answer with."""

    passages: tuple[Passage, ...]
    answer_tokens: int


def lighter(load: Load, question: str, step: int) -> Load:
    """Return a smaller load: seven tenths of the passages and of the answer.

    From the second step on, or with one passage, the longest is cut in half too, never beyond
    `MAX_DOWNSHIFTS` steps. One passage and 16 tokens of answer stay at least.

    Args:
        load: What was too much.
        question: Decides which half of a passage is kept.
        step: The number of the downshift, from 1.
    """
    halve = step <= MAX_DOWNSHIFTS and (step > 1 or len(load.passages) == 1)
    passages = _best(load.passages)
    return Load(
        passages=_halved(passages, question) if halve and passages else passages,
        answer_tokens=min(load.answer_tokens, max(_LEAST_ANSWER, _less(load.answer_tokens))),
    )


def _less(number: int) -> int:
    return number * _TENTHS // 10


def _best(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Return the better passages, in their order."""
    kept = max(1, _less(len(passages)))
    ranked = sorted(passages, key=lambda passage: (-passage.score, passage.marker))
    markers = {passage.marker for passage in ranked[:kept]}
    return tuple(passage for passage in passages if passage.marker in markers)


def _halved(passages: tuple[Passage, ...], question: str) -> tuple[Passage, ...]:
    """Return the passages, the longest one cut to its better half."""
    longest = max(passages, key=cost)
    parts = halves(longest.text)
    if parts is None:
        return passages
    start, end = _better(longest.text, parts, question)
    half = replace(longest, text=longest.text[start:end], start=longest.start + start)
    return tuple(half if passage is longest else passage for passage in passages)


def _better(text: str, parts: tuple[Span, Span], question: str) -> Span:
    """Return the part that holds more of what is asked for; the first one when they are equal."""
    asked = {term.text for term in build_query_terms(matter(question))}
    return max(parts, key=lambda part: _shared(asked, text[part[0] : part[1]]))


def _shared(asked: set[str], text: str) -> int:
    return len(asked.intersection(tokenize(text)))
