"""Packing: whole passages into a budget of tokens, the best first, then in reading order."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kebab.core.answer import Passage
from kebab.core.hit import Hit, Snippet
from kebab.rag.prompting.cut import fitting
from kebab.rag.prompting.fence import cost, text_cost

_LEAST = 48
"""Tokens of text that are always sent: an estimate is no reason to ask without any evidence."""


def pack(hits: Sequence[Hit], budget: int) -> list[Passage]:
    """Return passages whose tokens, frames included, a budget holds, at least one if any.

    A passage that does not fit gives way to smaller ones behind it; the best is cut instead. The
    same text is taken once. Documents stand in the order of their best hit, the passages of one in
    the order of the document; markers count from 1.

    Args:
        hits: The hits, best first.
        budget: Tokens, as `prompt.room` gives them.
    """
    taken: list[Passage] = []
    for passage in _distinct(hits):
        fits = cost(passage) <= budget
        if fits or not taken:
            snippet = hits[passage.marker - 1].snippet
            taken.append(passage if fits else _cut(passage, snippet, budget))
            budget -= cost(taken[-1])
    return _in_reading_order(taken)


def _distinct(hits: Sequence[Hit]) -> Iterable[Passage]:
    """Yield the hits as passages marked by their place, those of the same text once."""
    seen: set[str] = set()
    for number, hit in enumerate(hits, start=1):
        words = " ".join(hit.chunk.text.split())
        if words and words not in seen:
            seen.add(words)
            yield Passage(marker=number, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)


def _cut(passage: Passage, snippet: Snippet, budget: int) -> Passage:
    """Return a passage cut to what fits around its best match."""
    text = passage.text
    frame = cost(replace(passage, text=""))
    at = max(0, text.find(snippet.text))
    at += snippet.highlights[0][0] if snippet.highlights else 0
    start, end = fitting(text, max(_LEAST, budget - frame), at, text_cost)
    return replace(passage, text=text[start:end], start=start)


def _in_reading_order(taken: Sequence[Passage]) -> list[Passage]:
    best: dict[str, int] = {}
    for passage in taken:
        best.setdefault(passage.chunk.doc_id, passage.marker)
    ordered = sorted(taken, key=lambda one: (best[one.chunk.doc_id], one.chunk.ordinal))
    return [replace(passage, marker=number) for number, passage in enumerate(ordered, start=1)]
