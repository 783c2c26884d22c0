"""The search engine: a query in, a page out."""

import time
from collections.abc import Callable

from kebab.core.ports import AnswerCache, Embedder, LibraryReader, Vectors
from kebab.core.queries import Mode, Page, Query
from kebab.search.answerability import calibrate
from kebab.search.page import Selection, select_hits
from kebab.search.ranking import StageTimer
from kebab.search.retrieval import Ranker
from kebab.search.snippet import PassageCache
from kebab.search.vector import QueryVectorCache, VectorRetriever, build_degraded
from kebab.wire.search import DegradedChannel


class SearchEngine:
    """Searches one snapshot of the library.

    Args:
        library: The snapshot.
        vectors: Gives the vector index, or None when there is none. Called only when needed.
        embedder: Gives the model, or raises why there is none. Called only when needed.
        cache: Remembers the vectors of questions.
        clock: Returns seconds that never run backwards.
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
        channel = VectorRetriever(
            library=library, vectors=vectors, embedder=embedder, query_vectors=QueryVectorCache(cache)
        )
        self._ranker = Ranker(library, channel)

    def search(self, query: Query) -> Page:
        """Return one page of hits.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: Mode `vector`, and there is no model to ask with.
            StoreCorrupt: Mode `vector`, and the vectors cannot be read.
            TimedOut: Mode `vector`, and the model took too long.
        """
        stages = StageTimer(self._clock)
        reading = PassageCache(self._library)
        ranking = self._ranker.rank(query, stages, reading)
        scale = calibrate(ranking, reading)
        selection = select_hits(ranking, scale, query, reading.load_chunks)
        stages.note("page", len(selection.hits))
        return Page(
            hits=selection.hits,
            has_more=selection.more,
            next_offset=_next(query, selection),
            truncated=selection.truncated,
            degraded=(*ranking.degraded, *self._waiting(query, ranking.degraded)),
            revision=self._library.get_revision(),
            timing_ms=stages.elapsed_ms(),
            stages=stages.all() if query.trace else (),
            asked=ranking.words.asked,
            answerability=scale.answerability,
        )

    def _waiting(
        self, query: Query, degraded: tuple[DegradedChannel, ...]
    ) -> tuple[DegradedChannel, ...]:
        """Return a note on chunks that the vectors do not cover yet."""
        if query.mode is Mode.LEXICAL or any(one.channel == "vector" for one in degraded):
            return ()
        count = self._library.count_pending()
        if not count:
            return ()
        reason = f"passages that still wait for their vector: {count}"
        return (build_degraded(reason, "kebab ingest"),)


def _next(query: Query, selection: Selection) -> int | None:
    """Return where the next page begins; None at the end, and when not one hit fits the budget."""
    if not selection.more or not selection.hits:
        return None
    return query.offset + len(selection.hits)
