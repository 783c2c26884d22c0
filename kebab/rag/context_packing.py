"""Packs passages into the token budget, and reduces it after an overflow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kebab.core.answers import Evidence
from kebab.core.queries import Hit, Snippet
from kebab.rag.evidence import estimate_escaped_tokens, estimate_evidence_tokens
from kebab.rag.tokens import fit_sentences, split_in_half
from kebab.search.query_parser import strip_question_words
from kebab.text.tokenizer import build_query_terms, tokenize

_LEAST = 48
"""Tokens of text that are always sent: an estimate is no reason to ask without any evidence."""


def pack_evidence(hits: Sequence[Hit], budget: int) -> list[Evidence]:
    """Return passages whose tokens, frames included, a budget holds, at least one if any.

    A passage that does not fit gives way to smaller ones behind it; the best is cut instead. The
    same text is taken once. Documents stand in the order of their best hit, the passages of one in
    the order of the document; markers count from 1.

    Args:
        hits: The hits, best first.
        budget: Tokens, as `prompt.room` gives them.
    """
    taken: list[Evidence] = []
    for passage in _distinct(hits):
        fits = estimate_evidence_tokens(passage) <= budget
        if fits or not taken:
            snippet = hits[passage.marker - 1].snippet
            taken.append(passage if fits else _cut(passage, snippet, budget))
            budget -= estimate_evidence_tokens(taken[-1])
    return _in_reading_order(taken)


def _distinct(hits: Sequence[Hit]) -> Iterable[Evidence]:
    """Yield the hits as passages marked by their place, those of the same text once."""
    seen: set[str] = set()
    for number, hit in enumerate(hits, start=1):
        words = " ".join(hit.chunk.text.split())
        if words and words not in seen:
            seen.add(words)
            yield Evidence(marker=number, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)


def _cut(passage: Evidence, snippet: Snippet, budget: int) -> Evidence:
    """Return a passage cut to what fits around its best match."""
    text = passage.text
    frame = estimate_evidence_tokens(replace(passage, text=""))
    at = max(0, text.find(snippet.text))
    at += snippet.highlights[0][0] if snippet.highlights else 0
    start, end = fit_sentences(text, max(_LEAST, budget - frame), at, estimate_escaped_tokens)
    return replace(passage, text=text[start:end], start=start)


def _in_reading_order(taken: Sequence[Evidence]) -> list[Evidence]:
    best: dict[str, int] = {}
    for passage in taken:
        best.setdefault(passage.chunk.doc_id, passage.marker)
    ordered = sorted(taken, key=lambda one: (best[one.chunk.doc_id], one.chunk.ordinal))
    return [replace(passage, marker=number) for number, passage in enumerate(ordered, start=1)]


MAX_DOWNSHIFTS = 2
"""How often a question is asked again with less."""

_TENTHS = 7
_LEAST_ANSWER = 16

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PromptLoad:
    """What one attempt sends, and the most tokens it may answer with."""

    passages: tuple[Evidence, ...]
    answer_tokens: int


def reduce_load(load: PromptLoad, question: str, step: int) -> PromptLoad:
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
    return PromptLoad(
        passages=_halved(passages, question) if halve and passages else passages,
        answer_tokens=min(load.answer_tokens, max(_LEAST_ANSWER, _less(load.answer_tokens))),
    )


def _less(number: int) -> int:
    return number * _TENTHS // 10


def _best(passages: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return the better passages, in their order."""
    kept = max(1, _less(len(passages)))
    ranked = sorted(passages, key=lambda passage: (-passage.score, passage.marker))
    markers = {passage.marker for passage in ranked[:kept]}
    return tuple(passage for passage in passages if passage.marker in markers)


def _halved(passages: tuple[Evidence, ...], question: str) -> tuple[Evidence, ...]:
    """Return the passages, the longest one cut to its better half."""
    longest = max(passages, key=estimate_evidence_tokens)
    parts = split_in_half(longest.text)
    if parts is None:
        return passages
    start, end = _better(longest.text, parts, question)
    half = replace(longest, text=longest.text[start:end], start=longest.start + start)
    return tuple(half if passage is longest else passage for passage in passages)


def _better(text: str, parts: tuple[Span, Span], question: str) -> Span:
    """Return the part that holds more of what is asked for; the first one when they are equal."""
    asked = {term.text for term in build_query_terms(strip_question_words(question))}
    return max(parts, key=lambda part: _shared(asked, text[part[0] : part[1]]))


def _shared(asked: set[str], text: str) -> int:
    return len(asked.intersection(tokenize(text)))
