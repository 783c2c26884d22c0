"""Searches one snapshot of the library: a query in, a page of hits out."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from kebab.core.ports import AnswerCache, Embedder, LibraryReader, Vectors
from kebab.core.queries import Mode, Page, Query, QueryInterpretation
from kebab.search.absent_terms import find_absent_terms
from kebab.search.answer_signals import is_across_languages, read_first_passages
from kebab.search.answerability import (
    calibrate,
    estimate_answerability,
    is_convincing,
    select_confident,
)
from kebab.search.merge import MergedRanking, QueryResult, merge_interpretations
from kebab.search.page import select_hits
from kebab.search.query_parser import ParsedQuery
from kebab.search.retrieval import RankedCandidates, Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever, build_degraded
from kebab.wire.search import DegradedChannel

_LEAST_LIKELY = 0.1
"""Questions with a lower answerability are not reranked; a third of what `ask` needs."""


class SearchEngine:
    """Searches one snapshot of the library.

    Args:
        library: The snapshot.
        vectors: Returns the vector index, or None when there is none. Called only when needed.
        embedder: Returns the model, or raises why there is none. Called only when needed.
        cache: Caches the vectors of queries.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        library: LibraryReader,
        vectors: Callable[[], Vectors | None],
        embedder: Callable[[], Embedder],
        *,
        cache: AnswerCache | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._library = library
        self._clock = clock
        self._embedder = embedder
        retriever = VectorRetriever(
            library=library, vectors=vectors, embedder=embedder, cache=cache
        )
        self._ranker = Ranker(library, retriever)

    def search(self, query: Query) -> Page:
        """Return one page of hits.

        Raises:
            InvalidInput: The query is empty, or only excludes.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, passages = StageTimer(self._clock), PassageCache(self._library)
        results = [
            self._rank(replace(query, text=text), timer, passages)
            for text in (query.text, *query.more)
        ]
        selection = select_hits(MergedRanking(results), query, passages.load_chunks)
        degraded = tuple(dict.fromkeys(one for found in results for one in found.degraded))
        following = query.offset + len(selection.hits)
        timer.record("page", len(selection.hits))
        return Page(
            hits=selection.hits,
            has_more=selection.has_more,
            next_offset=following if selection.has_more and selection.hits else None,
            left_out=selection.left_out,
            degraded=(*degraded, *self._list_pending(query, degraded)),
            revision=self._library.get_revision(),
            timing_ms=timer.get_elapsed_ms(),
            stages=tuple(timer.stages) if query.trace else (),
            term_rarities=_merge_rarities(results),
            answerability=max(result.calibration.answerability for result in results),
            interpretation=merge_interpretations([result.interpretation for result in results]),
            absent_terms=tuple(
                dict.fromkeys(term for result in results for term in result.absent_terms)
            ),
            convincing=any(result.convincing for result in results),
            convincing_queries=tuple(
                index for index, result in enumerate(results) if result.convincing
            ),
        )

    def _rank(self, query: Query, timer: StageTimer, passages: PassageCache) -> QueryResult:
        """Return the ranking of one query."""
        candidates = self._ranker.rank(query, timer, passages)
        if _is_reranked(query, candidates, passages):
            from kebab.search.rerank import rerank_candidates

            candidates = rerank_candidates(
                candidates, self._embedder, passages, timer, asked_for=bool(query.rerank)
            )
        calibration = calibrate(candidates, passages)
        convincing = is_convincing(candidates, calibration)
        first = read_first_passages(candidates, passages)
        held = frozenset().union(*map(passages.tokenize_passage, first))
        return QueryResult(
            candidates=select_confident(candidates, calibration, query.min_confidence),
            calibration=calibration,
            interpretation=interpret_query(candidates.parsed),
            absent_terms=find_absent_terms(
                self._library, candidates, first, held, convincing=convincing
            ),
            convincing=convincing,
        )

    def _list_pending(
        self, query: Query, degraded: tuple[DegradedChannel, ...]
    ) -> tuple[DegradedChannel, ...]:
        """Return a note on chunks without a vector, if the vector channel answered."""
        if query.mode is Mode.LEXICAL or any(channel.channel == "vector" for channel in degraded):
            return ()
        count = self._library.count_pending()
        reason = f"passages that still wait for their vector: {count}"
        if not count:
            return ()
        return (msgspec.structs.replace(build_degraded(reason, "kebab ingest"), partial=True),)


def _is_reranked(query: Query, candidates: RankedCandidates, passages: PassageCache) -> bool:
    """Return whether the candidates of a query are reranked.

    A question whose answer is very unlikely is not: in one language the order decides little.
    """
    if not query.rerank:
        return query.rerank is None and is_across_languages(candidates, passages)
    if not query.prose or candidates.model is None or is_across_languages(candidates, passages):
        return True
    return estimate_answerability(candidates, passages) >= _LEAST_LIKELY


def interpret_query(parsed: ParsedQuery) -> QueryInterpretation:
    """Return how the text of a query was read."""
    return QueryInterpretation(
        terms=parsed.words,
        phrases=tuple(phrase.format() for phrase in parsed.required),
        excluded=tuple(phrase.format() for phrase in parsed.excluded),
        filters=parsed.filters,
    )


def _merge_rarities(results: Sequence[QueryResult]) -> dict[str, float]:
    return {
        term: rarity
        for result in results
        for term, rarity in result.candidates.weighted.rarities.items()
    }
