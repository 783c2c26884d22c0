"""Searches one snapshot of the library: a query in, a page of hits out."""

import time
from collections.abc import Callable

from kebab.core.ports import AnswerCache, Embedder, LibraryReader, Vectors
from kebab.core.queries import Mode, Page, Query, QueryInterpretation
from kebab.search.absent_terms import find_absent_terms
from kebab.search.answerability import calibrate, is_convincing, read_first_passages
from kebab.search.page import select_hits
from kebab.search.query_parser import ParsedQuery
from kebab.search.retrieval import Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever, build_degraded
from kebab.wire.search import DegradedChannel


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
        retriever = VectorRetriever(
            library=library, vectors=vectors, embedder=embedder, cache=cache
        )
        self._ranker = Ranker(library, retriever)

    def search(self, query: Query) -> Page:
        """Return one page of hits.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, passages = StageTimer(self._clock), PassageCache(self._library)
        candidates = self._ranker.rank(query, timer, passages)
        calibration = calibrate(candidates, passages)
        selection = select_hits(candidates, calibration, query, passages.load_chunks)
        first = read_first_passages(candidates, passages)
        held = frozenset().union(*map(passages.tokenize_passage, first))
        following = query.offset + len(selection.hits)
        timer.record("page", len(selection.hits))
        return Page(
            hits=selection.hits,
            has_more=selection.has_more,
            next_offset=following if selection.has_more and selection.hits else None,
            truncated=selection.truncated,
            degraded=(*candidates.degraded, *self._list_pending(query, candidates.degraded)),
            revision=self._library.get_revision(),
            timing_ms=timer.get_elapsed_ms(),
            stages=tuple(timer.stages) if query.trace else (),
            term_rarities=candidates.weighted.rarities,
            answerability=calibration.answerability,
            interpretation=interpret_query(candidates.parsed),
            absent_terms=find_absent_terms(self._library, candidates, held),
            convincing=is_convincing(candidates, calibration),
        )

    def _list_pending(
        self, query: Query, degraded: tuple[DegradedChannel, ...]
    ) -> tuple[DegradedChannel, ...]:
        """Return a note on chunks without a vector, if the vector channel answered."""
        if query.mode is Mode.LEXICAL or any(channel.channel == "vector" for channel in degraded):
            return ()
        count = self._library.count_pending()
        reason = f"passages that still wait for their vector: {count}"
        return (build_degraded(reason, "kebab ingest"),) if count else ()


def interpret_query(parsed: ParsedQuery) -> QueryInterpretation:
    """Return how the text of a query was read."""
    return QueryInterpretation(
        terms=parsed.words,
        phrases=tuple(phrase.format() for phrase in parsed.required),
        excluded=tuple(phrase.format() for phrase in parsed.excluded),
        filters=parsed.filters,
    )
