"""Builds pages of hits: deduplication, the text of hits, and the token budget."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kebab.core.ids import DocId, Key
from kebab.core.queries import Detail, Hit, Query, Snippet, StoredChunk
from kebab.search import snippet
from kebab.search.answerability import classify_confidence
from kebab.search.merge import MergedRanking

if TYPE_CHECKING:
    from kebab.wire.search import LeftOut

MAX_COPIES = 3
"""How often the same text is shown; further copies in other documents are left out."""

_BATCH, _LARGEST_BATCH = 12, 96


def deduplicate_hits(
    keys: Sequence[Key],
    read: Callable[[Sequence[Key]], list[StoredChunk]],
    per_doc: int | None,
) -> Iterator[StoredChunk]:
    """Yield chunks in order, at most `per_doc` of one document and few copies of one text.

    They are read in growing batches, as far as the caller iterates.
    """
    documents: Counter[DocId] = Counter()
    texts: Counter[str] = Counter()
    start, size = 0, _BATCH
    while start < len(keys):
        for chunk in read(keys[start : start + size]):
            if per_doc is not None and documents[chunk.doc_id] >= per_doc:
                continue
            if texts[chunk.text] >= MAX_COPIES:
                continue
            documents[chunk.doc_id] += 1
            texts[chunk.text] += 1
            yield chunk
        start, size = start + size, min(2 * size, _LARGEST_BATCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of a page, whether others follow, and what the token budget left out."""

    hits: tuple[Hit, ...]
    has_more: bool
    left_out: "LeftOut | None" = None


def select_hits(
    ranking: MergedRanking, query: Query, read: Callable[[Sequence[Key]], list[StoredChunk]]
) -> Selection:
    """Return the hits of one page within its token budget."""
    size, shown = query.page_size, deduplicate_hits(ranking.keys, read, query.per_doc)
    found = list(islice(shown, query.offset, query.offset + size + 1))
    chunks, more = found[:size], len(found) > size
    hits = [
        _build_hit(ranking, chunk, query, rank)
        for rank, chunk in enumerate(chunks, start=query.offset + 1)
    ]
    if query.max_tokens is None:
        return Selection(hits=tuple(hits), has_more=more)
    from kebab.search.budget import fit_budget

    firsts = [place for place, hit in enumerate(hits) if hit.chunk.key in ranking.first_keys]
    required = max(firsts, default=0) + 1
    fitting, left_out = fit_budget(hits, query, ranking.weigh_highlights, required)
    more = more or len(fitting) < len(hits)
    return Selection(hits=tuple(fitting), has_more=more, left_out=left_out)


def _build_hit(ranking: MergedRanking, chunk: StoredChunk, query: Query, rank: int) -> Hit:
    match = ranking.find_match(chunk.key)
    weights = ranking.weigh_highlights(chunk.key)
    return Hit(
        rank=rank,
        score=match.score,
        confidence=classify_confidence(match.score),
        chunk=chunk,
        snippet=_select_text(chunk.text, weights, query),
        retrieval=match.result.candidates.build_retrieval(
            chunk.key, match.evidence, trace=query.trace
        ),
        queries=match.queries,
    )


def _select_text(text: str, weights: Mapping[str, float], query: Query) -> Snippet:
    match query.detail:
        case Detail.IDS:
            return Snippet("")
        case Detail.PASSAGES:
            return snippet.highlight_text(text, weights)
        case Detail.SNIPPETS:
            return snippet.cut_snippet(text, weights, query.snippet_chars)
