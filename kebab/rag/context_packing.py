"""Packs evidence into the context window of a model, and reduces it after an overflow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kebab.core.answers import Evidence
from kebab.core.queries import Hit, Snippet
from kebab.rag.evidence import estimate_escaped_tokens, estimate_evidence_tokens
from kebab.rag.tokens import fit_sentences, split_in_half
from kebab.search.query_parser import strip_question_words
from kebab.text.tokenizer import build_query_terms, tokenize

_MIN_TEXT_TOKENS = 48
"""Tokens of text that are always sent, because the budget is an estimate."""

MAX_DOWNSHIFTS = 2
"""The most times a question is asked again with less."""

_KEPT_TENTHS = 7
_MIN_ANSWER_TOKENS = 16


def pack_evidence(hits: Sequence[Hit], budget: int) -> list[Evidence]:
    """Return passages that fit a token budget with their tags, at least one if there are hits.

    A passage that does not fit is skipped for smaller ones behind it; the best one is cut instead.
    Equal texts are taken once. Documents are in the order of their best hit, passages in the order
    of the document. Markers count from 1.

    Args:
        hits: The hits, best first.
        budget: The budget from `prompt.compute_evidence_budget`.
    """
    packed: list[Evidence] = []
    for passage in _list_distinct(hits):
        fits = estimate_evidence_tokens(passage) <= budget
        if fits or not packed:
            snippet = hits[passage.marker - 1].snippet
            packed.append(passage if fits else _cut(passage, snippet, budget))
            budget -= estimate_evidence_tokens(packed[-1])
    best: dict[str, int] = {}
    for passage in packed:
        best.setdefault(passage.chunk.doc_id, passage.marker)
    packed.sort(key=lambda one: (best[one.chunk.doc_id], one.chunk.ordinal))
    return [replace(passage, marker=number) for number, passage in enumerate(packed, start=1)]


def _list_distinct(hits: Sequence[Hit]) -> Iterable[Evidence]:
    """Yield the hits without repeated texts as passages, each marked with its position."""
    seen: set[str] = set()
    for number, hit in enumerate(hits, start=1):
        words = " ".join(hit.chunk.text.split())
        if words and words not in seen:
            seen.add(words)
            yield Evidence(marker=number, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)


def _cut(passage: Evidence, snippet: Snippet, budget: int) -> Evidence:
    """Return the part of a passage around its best match that fits the budget."""
    text = passage.text
    overhead = estimate_evidence_tokens(replace(passage, text=""))
    match = max(0, text.find(snippet.text))
    match += snippet.highlights[0][0] if snippet.highlights else 0
    limit = max(_MIN_TEXT_TOKENS, budget - overhead)
    start, end = fit_sentences(text, limit, match, estimate_escaped_tokens)
    return replace(passage, text=text[start:end], start=start)


@dataclass(frozen=True, slots=True)
class PromptLoad:
    """The passages that one attempt sends, and the most tokens of its answer."""

    passages: tuple[Evidence, ...]
    answer_tokens: int


def reduce_load(load: PromptLoad, question: str, step: int) -> PromptLoad:
    """Return seven tenths of the passages and of the answer tokens.

    From the second step on, or with one passage, the longest passage is also cut in half, but only
    up to `MAX_DOWNSHIFTS` steps. At least one passage and 16 answer tokens remain.

    Args:
        load: The load that was too large.
        question: Decides which half of a passage remains.
        step: The number of the downshift, from 1.
    """
    is_halved = step <= MAX_DOWNSHIFTS and (step > 1 or len(load.passages) == 1)
    passages = _select_best(load.passages)
    answer_tokens = max(_MIN_ANSWER_TOKENS, _reduce(load.answer_tokens))
    return PromptLoad(
        passages=_halve_longest(passages, question) if is_halved and passages else passages,
        answer_tokens=min(load.answer_tokens, answer_tokens),
    )


def _reduce(number: int) -> int:
    return number * _KEPT_TENTHS // 10


def _select_best(passages: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return the passages with the best scores, in their order."""
    ranked = sorted(passages, key=lambda passage: (-passage.score, passage.marker))
    markers = {passage.marker for passage in ranked[: max(1, _reduce(len(passages)))]}
    return tuple(passage for passage in passages if passage.marker in markers)


def _halve_longest(passages: tuple[Evidence, ...], question: str) -> tuple[Evidence, ...]:
    """Return the passages, the longest one cut to the half with more terms of the question."""
    longest = max(passages, key=estimate_evidence_tokens)
    halves = split_in_half(longest.text)
    if halves is None:
        return passages
    asked = {term.text for term in build_query_terms(strip_question_words(question))}
    texts = [longest.text[start:end] for start, end in halves]
    first, second = (len(asked.intersection(tokenize(text))) for text in texts)
    best = int(second > first)
    half = replace(longest, text=texts[best], start=longest.start + halves[best][0])
    return tuple(half if passage is longest else passage for passage in passages)
