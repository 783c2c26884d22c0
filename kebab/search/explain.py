"""Explains where a search found or lost the passages of one document, with a verdict."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Query, StoredChunk
from kebab.search.answer_signals import is_across_languages
from kebab.search.answerability import (
    Calibration,
    calibrate,
    select_confident,
)
from kebab.search.explain_matches import (
    UNRANKED,
    BrokenCondition,
    describe_terms,
    find_broken_conditions,
    find_held_terms,
    find_lexical_standings,
    find_standings,
    find_vector_standings,
    remove_conditions,
)
from kebab.search.fusion import rank_by_score
from kebab.search.page import deduplicate_hits
from kebab.search.query_parser import ParsedQuery, QueryIntent, classify_intent
from kebab.search.rerank import rerank_candidates
from kebab.search.retrieval import RankedCandidates, Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.search import DegradedChannel, Lift
from kebab.wire.why import HeldTerms, Standing, TermReading, Withheld

_SHOWN = 3
_LAST = 1 << 62
"""The sort key of passages without a rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageExplanation:
    """What a search did with one passage."""

    chunk: StoredChunk
    broken: tuple[BrokenCondition, ...]
    held: HeldTerms
    lexical: Standing
    semantic: Standing
    fused: Standing
    boosts: list[Lift]
    final: Standing
    score: float | None
    """The final evidence, calibrated."""
    hit_rank: int | None
    """Its rank among the hits of all pages."""
    withheld: Withheld | None
    """Why a ranked passage is no hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentExplanation:
    """What a search did with a document.

    Where every passage breaks a condition, `removed` holds the conditions of the best one, and the
    passages are explained for a search without them.
    """

    parsed: ParsedQuery
    """The query as it was searched, with the removed conditions."""
    intent: QueryIntent
    terms: list[TermReading]
    relaxed: bool
    """Whether required phrases were dropped because no passage holds them all."""
    removed: tuple[BrokenCondition, ...]
    passages: tuple[PassageExplanation, ...]
    """The best passages, best first."""
    candidate_count: int
    degraded: tuple[DegradedChannel, ...]
    revision: int
    timing_ms: float

    @property
    def best(self) -> PassageExplanation | None:
        """The explanation of the best passage; None for a document without text."""
        return self.passages[0] if self.passages else None


class Explainer:
    """Explains searches of one snapshot."""

    def __init__(
        self,
        library: LibraryReader,
        retriever: VectorRetriever,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._library = library
        self._retriever = retriever
        self._clock = clock

    def explain(self, query: Query, passages: Sequence[StoredChunk]) -> DocumentExplanation:
        """Explain what a search does with passages of one document.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, cache = StageTimer(self._clock), PassageCache(self._library)
        ranker = Ranker(self._library, self._retriever)
        first = candidates = ranker.rank(query, timer, cache)
        broken = find_broken_conditions(self._library, first.parsed, passages)
        removed = min(broken.values(), key=len, default=())
        if removed:
            without = remove_conditions(first.parsed, removed)
            candidates = ranker.rank_parsed(without, query.mode, timer, cache)
        if query.rerank or (query.rerank is None and is_across_languages(candidates, cache)):
            candidates = rerank_candidates(
                candidates,
                self._retriever.embedder,
                cache,
                timer,
                asked_for=bool(query.rerank),
            )
        return DocumentExplanation(
            parsed=first.parsed,
            intent=classify_intent(first.parsed),
            terms=describe_terms(self._library, first.parsed, candidates.weighted),
            relaxed=first.relaxed,
            removed=removed,
            passages=tuple(self._explain_passages(candidates, query, broken, cache)),
            candidate_count=len(candidates.ranked),
            degraded=candidates.degraded,
            revision=self._library.get_revision(),
            timing_ms=timer.get_elapsed_ms(),
        )

    def _explain_passages(
        self,
        candidates: RankedCandidates,
        query: Query,
        broken: Mapping[Key, tuple[BrokenCondition, ...]],
        cache: PassageCache,
    ) -> Iterator[PassageExplanation]:
        """Yield the explanations of the passages that came furthest."""
        keys = broken.keys()
        lexical = find_lexical_standings(self._library, candidates, keys)
        semantic = find_vector_standings(self._retriever, candidates, keys, query.mode)
        fused = find_standings(rank_by_score(candidates.fused), keys)
        final = find_standings(candidates.ranked, keys)
        calibration = calibrate(candidates, cache)
        hit_ranks, withheld = _rank_hits(candidates, calibration, query, keys, cache)

        def sort_key(key: Key) -> tuple[int, ...]:
            stages = (one.get(key, UNRANKED).rank for one in (final, semantic, lexical))
            ranks = (hit_ranks.get(key), *stages)
            return (*(_LAST if rank is None else rank for rank in ranks), key)

        for chunk in cache.load_chunks(sorted(keys, key=sort_key)[:_SHOWN]):
            key, standing = chunk.key, final.get(chunk.key, UNRANKED)
            yield PassageExplanation(
                chunk=chunk,
                broken=broken[key],
                held=find_held_terms(candidates.weighted, chunk),
                lexical=lexical.get(key, UNRANKED),
                semantic=semantic.get(key, UNRANKED),
                fused=fused.get(key, UNRANKED),
                boosts=candidates.list_boosts(key),
                final=standing,
                score=None if standing.score is None else calibration.score(standing.score),
                hit_rank=hit_ranks.get(key),
                withheld=withheld.get(key),
            )


def _rank_hits(
    candidates: RankedCandidates,
    calibration: Calibration,
    query: Query,
    keys: Collection[Key],
    cache: PassageCache,
) -> tuple[dict[Key, int], dict[Key, Withheld]]:
    """Return the ranks of those passages that are hits, and why other candidates are none."""
    confident = select_confident(candidates, calibration, query.min_confidence)
    order = [key for key, _ in confident.ranked]
    hits = enumerate(deduplicate_hits(order, cache.load_chunks, query.per_doc), start=1)
    shown = {chunk.key: rank for rank, chunk in hits}
    lost = [key for key in order if key in keys and key not in shown]
    free = (
        {chunk.key for chunk in deduplicate_hits(order, cache.load_chunks, None)} if lost else set()
    )
    below = [key for key, _ in candidates.ranked[len(order) :] if key in keys]
    withheld: dict[Key, Withheld] = {key: "per_doc" if key in free else "copies" for key in lost}
    withheld |= dict.fromkeys(below, "confidence")
    return {key: rank for key, rank in shown.items() if key in keys}, withheld
