"""Pages: from ranked candidates to the hits that a caller sees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kebab.core.hit import Hit, StoredChunk
from kebab.core.ids import Key
from kebab.core.query import Query
from kebab.search import snippet
from kebab.search.arrange import arrange
from kebab.search.budget import hit_cost
from kebab.search.calibrate import Scale, confidence
from kebab.search.rank import Ranking

_SHORTER = (1.0, 0.6, 0.35, 0.2)
"""The shares of the wished length that snippets are tried at before hits are dropped."""

_SHORTEST = 40
_MARKED = 0.25
"""The least weight of a word that is marked, as a share of the heaviest one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of a page; `more` when others follow, `truncated` when the budget cut something."""

    hits: tuple[Hit, ...]
    more: bool
    truncated: bool = False


def select(
    ranking: Ranking,
    scale: Scale,
    query: Query,
    read: Callable[[Sequence[Key]], list[StoredChunk]],
) -> Selection:
    """Return the hits of one page, never above its budget of tokens."""
    keys = [key for key, _ in ranking.order]
    shown = arrange(keys, read, query.per_doc)
    found = list(islice(shown, query.offset, query.offset + query.limit + 1))
    chunks, more = found[: query.limit], len(found) > query.limit
    if query.max_tokens is None:
        hits = _hits(ranking, scale, chunks, query, query.snippet_chars)
        return Selection(hits=hits, more=more)
    return _within(ranking, scale, chunks, query, more=more)


def _within(
    ranking: Ranking, scale: Scale, chunks: Sequence[StoredChunk], query: Query, *, more: bool
) -> Selection:
    """Return the longest page that fits: snippets get shorter first, then hits are dropped."""
    budget = query.max_tokens or 0
    hits: tuple[Hit, ...] = ()
    for share in _SHORTER:
        chars = min(query.snippet_chars, max(_SHORTEST, int(query.snippet_chars * share)))
        hits = _hits(ranking, scale, chunks, query, chars)
        if sum(map(hit_cost, hits)) <= budget:
            return Selection(hits=hits, more=more, truncated=chars < query.snippet_chars)
    kept = _affordable(hits, budget)
    return Selection(hits=kept, more=more or len(kept) < len(hits), truncated=True)


def _affordable(hits: tuple[Hit, ...], budget: int) -> tuple[Hit, ...]:
    """Return the first hits that fit together."""
    spent = 0
    for count, hit in enumerate(hits):
        spent += hit_cost(hit)
        if spent > budget:
            return hits[:count]
    return hits


def _hits(
    ranking: Ranking, scale: Scale, chunks: Sequence[StoredChunk], query: Query, chars: int
) -> tuple[Hit, ...]:
    fused = dict(ranking.order)
    weights = _telling(ranking.words.weights)
    hits = []
    for rank, chunk in enumerate(chunks, start=query.offset + 1):
        score = scale.score(fused[chunk.key])
        hits.append(
            Hit(
                rank=rank,
                score=score,
                confidence=confidence(score),
                chunk=chunk,
                snippet=snippet.cut(chunk.text, weights, chars),
                retrieval=ranking.retrieval(chunk.key, fused[chunk.key], trace=query.trace),
            )
        )
    return tuple(hits)


def _telling(weights: Mapping[str, float]) -> Mapping[str, float]:
    """Return the tokens worth marking: beside a rare word, frequent ones only disturb."""
    floor = max(weights.values(), default=0.0) * _MARKED
    return {token: weight for token, weight in weights.items() if weight >= floor}
