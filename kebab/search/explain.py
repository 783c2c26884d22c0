"""Explaining: at which stage of a search the passages of one document were found or lost."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Query, StoredChunk
from kebab.search import explain_terms, fusion
from kebab.search.answerability import calibrate
from kebab.search.explain_terms import BrokenCondition, find_broken_conditions, remove_conditions
from kebab.search.page import deduplicate_hits
from kebab.search.query_intent import QueryIntent, classify_intent
from kebab.search.query_parser import ParsedQuery
from kebab.search.ranking import StageTimer
from kebab.search.retrieval import (
    UNRANKED,
    DeepRanks,
    RankedCandidates,
    Ranker,
    find_standings,
    understood,
)
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.search import DegradedChannel, Lift
from kebab.wire.why import HeldTerms, Standing, TermReading, Withheld

_SHOWN = 3
_LAST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageExplanation:
    """What a search made of one passage."""

    chunk: StoredChunk
    barriers: tuple[BrokenCondition, ...]
    held: HeldTerms
    words: Standing
    meaning: Standing
    fused: Standing
    lifts: list[Lift]
    final: Standing
    score: float | None
    """The final evidence, calibrated."""
    place: int | None
    """Its rank among the hits of all pages."""
    withheld: Withheld | None
    """Why it is no hit although it was ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentExplanation:
    """What a search made of a document.

    Where `lifted` names barriers they keep all of the document out, and the accounts are of a
    search without them.
    """

    question: ParsedQuery
    """As it was asked in the end, barriers included."""
    aim: QueryIntent
    terms: list[TermReading]
    relaxed: bool
    """Whether required phrases were given up because no passage holds them all."""
    lifted: tuple[BrokenCondition, ...]
    accounts: tuple[PassageExplanation, ...]
    """The best passages, best first."""
    ranked: int
    """How many candidates there were."""
    degraded: tuple[DegradedChannel, ...]
    revision: int
    timing_ms: float

    @property
    def best(self) -> PassageExplanation | None:
        """The account of the best passage; None of a document without text."""
        return self.accounts[0] if self.accounts else None


class Explainer:
    """Explains searches of one snapshot."""

    def __init__(
        self,
        library: LibraryReader,
        channel: VectorRetriever,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._library = library
        self._ranker = Ranker(library, channel)
        self._depth = DeepRanks(library, channel)
        self._clock = clock

    def explain(self, query: Query, passages: Sequence[StoredChunk]) -> DocumentExplanation:
        """Return what a search makes of passages of one document.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: Mode `vector`, and there is no model to ask with.
            StoreCorrupt: Mode `vector`, and the vectors cannot be read.
            TimedOut: Mode `vector`, and the model took too long.
        """
        stages, reading = StageTimer(self._clock), PassageCache(self._library)
        asked = understood(query)
        ranking = self._ranker.answer(asked, query.mode, stages, reading)
        question = ranking.question
        barred = find_broken_conditions(self._library, question, passages)
        open_ = min(barred.values(), key=len, default=())
        if open_:
            without = remove_conditions(question, open_)
            ranking = self._ranker.answer(without, query.mode, stages, reading)
        return DocumentExplanation(
            question=question,
            aim=classify_intent(question),
            terms=explain_terms.describe_terms(self._library, question, ranking.words),
            relaxed=question.required != asked.required,
            lifted=open_,
            accounts=tuple(self._accounts(ranking, query, barred, reading)),
            ranked=len(ranking.order),
            degraded=ranking.degraded,
            revision=self._library.get_revision(),
            timing_ms=stages.elapsed_ms(),
        )

    def _standings(
        self, ranking: RankedCandidates, query: Query, keys: Collection[Key]
    ) -> "_Standings":
        return _Standings(
            words=self._depth.words(ranking, keys),
            meaning=self._depth.meaning(ranking, keys, query.mode),
            fused=find_standings(fusion.rank_by_score(ranking.fused), keys),
            final=find_standings(ranking.order, keys),
        )

    def _accounts(
        self,
        ranking: RankedCandidates,
        query: Query,
        barred: Mapping[Key, tuple[BrokenCondition, ...]],
        reading: PassageCache,
    ) -> Iterator[PassageExplanation]:
        """Yield the accounts of the passages that came furthest."""
        at = self._standings(ranking, query, barred.keys())
        places, withheld = _shown(ranking, query.per_doc, barred.keys(), reading)
        scale = calibrate(ranking, reading)
        best = sorted(barred, key=lambda key: at.reached(key, places.get(key)))[:_SHOWN]
        for chunk in reading.load_chunks(best):
            key, final = chunk.key, at.final.get(chunk.key, UNRANKED)
            yield PassageExplanation(
                chunk=chunk,
                barriers=barred[key],
                held=explain_terms.find_held_terms(ranking.words, chunk),
                words=at.words.get(key, UNRANKED),
                meaning=at.meaning.get(key, UNRANKED),
                fused=at.fused.get(key, UNRANKED),
                lifts=ranking.added(key),
                final=final,
                score=None if final.score is None else scale.score(final.score),
                place=places.get(key),
                withheld=withheld.get(key),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standings:
    """Where passages stand after each stage."""

    words: Mapping[Key, Standing]
    meaning: Mapping[Key, Standing]
    fused: Mapping[Key, Standing]
    final: Mapping[Key, Standing]

    def reached(self, key: Key, place: int | None) -> tuple[int, ...]:
        """Return what passages are sorted by: the further one came the better."""
        stages = (self.final, self.meaning, self.words)
        came = (place, *(stage.get(key, UNRANKED).rank for stage in stages))
        return (*(_LAST if rank is None else rank for rank in came), key)


def _shown(
    ranking: RankedCandidates, per_doc: int | None, keys: Collection[Key], reading: PassageCache
) -> tuple[dict[Key, int], dict[Key, Withheld]]:
    """Return the ranks of those passages that are hits, and why others are none."""
    order = [key for key, _ in ranking.order]
    shown = {
        chunk.key: rank
        for rank, chunk in enumerate(deduplicate_hits(order, reading.load_chunks, per_doc), start=1)
    }
    lost = [key for key in order if key in keys and key not in shown]
    free = {chunk.key for chunk in deduplicate_hits(order, reading.load_chunks, None)} if lost else set()
    withheld: dict[Key, Withheld] = {key: "per_doc" if key in free else "copies" for key in lost}
    return {key: rank for key, rank in shown.items() if key in keys}, withheld
