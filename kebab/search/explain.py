"""Explaining: at which stage of a search the passages of one document were found or lost."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Query, StoredChunk
from kebab.search import explain_terms, fusion
from kebab.search.answerability import measured
from kebab.search.explain_terms import BrokenCondition, barriers, lifted
from kebab.search.page import arrange
from kebab.search.query_intent import Aim, aim
from kebab.search.query_parser import Question
from kebab.search.ranking import Stages
from kebab.search.retrieval import NOWHERE, Depth, Ranker, Ranking, ranks, understood
from kebab.search.snippet import Reading
from kebab.search.vector import Channel
from kebab.wire.search import DegradedChannel, Lift
from kebab.wire.why import HeldTerms, Standing, TermReading, Withheld

_SHOWN = 3
_LAST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
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
class DocumentAccount:
    """What a search made of a document.

    Where `lifted` names barriers they keep all of the document out, and the accounts are of a
    search without them.
    """

    question: Question
    """As it was asked in the end, barriers included."""
    aim: Aim
    terms: list[TermReading]
    relaxed: bool
    """Whether required phrases were given up because no passage holds them all."""
    lifted: tuple[BrokenCondition, ...]
    accounts: tuple[Account, ...]
    """The best passages, best first."""
    ranked: int
    """How many candidates there were."""
    degraded: tuple[DegradedChannel, ...]
    revision: int
    timing_ms: float

    @property
    def best(self) -> Account | None:
        """The account of the best passage; None of a document without text."""
        return self.accounts[0] if self.accounts else None


class Explainer:
    """Explains searches of one snapshot."""

    def __init__(
        self,
        library: LibraryReader,
        channel: Channel,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._library = library
        self._ranker = Ranker(library, channel)
        self._depth = Depth(library, channel)
        self._clock = clock

    def explain(self, query: Query, passages: Sequence[StoredChunk]) -> DocumentAccount:
        """Return what a search makes of passages of one document.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: Mode `vector`, and there is no model to ask with.
            StoreCorrupt: Mode `vector`, and the vectors cannot be read.
            TimedOut: Mode `vector`, and the model took too long.
        """
        stages, reading = Stages(self._clock), Reading(self._library)
        asked = understood(query)
        ranking = self._ranker.answer(asked, query.mode, stages, reading)
        question = ranking.question
        barred = barriers(self._library, question, passages)
        open_ = min(barred.values(), key=len, default=())
        if open_:
            without = lifted(question, open_)
            ranking = self._ranker.answer(without, query.mode, stages, reading)
        return DocumentAccount(
            question=question,
            aim=aim(question),
            terms=explain_terms.uses(self._library, question, ranking.words),
            relaxed=question.required != asked.required,
            lifted=open_,
            accounts=tuple(self._accounts(ranking, query, barred, reading)),
            ranked=len(ranking.order),
            degraded=ranking.degraded,
            revision=self._library.revision(),
            timing_ms=stages.elapsed_ms(),
        )

    def _standings(self, ranking: Ranking, query: Query, keys: Collection[Key]) -> "_Standings":
        return _Standings(
            words=self._depth.words(ranking, keys),
            meaning=self._depth.meaning(ranking, keys, query.mode),
            fused=ranks(fusion.rank_by_score(ranking.fused), keys),
            final=ranks(ranking.order, keys),
        )

    def _accounts(
        self,
        ranking: Ranking,
        query: Query,
        barred: Mapping[Key, tuple[BrokenCondition, ...]],
        reading: Reading,
    ) -> Iterator[Account]:
        """Yield the accounts of the passages that came furthest."""
        at = self._standings(ranking, query, barred.keys())
        places, withheld = _shown(ranking, query.per_doc, barred.keys(), reading)
        scale = measured(ranking, reading)
        best = sorted(barred, key=lambda key: at.reached(key, places.get(key)))[:_SHOWN]
        for chunk in reading.chunks(best):
            key, final = chunk.key, at.final.get(chunk.key, NOWHERE)
            yield Account(
                chunk=chunk,
                barriers=barred[key],
                held=explain_terms.held(ranking.words, chunk),
                words=at.words.get(key, NOWHERE),
                meaning=at.meaning.get(key, NOWHERE),
                fused=at.fused.get(key, NOWHERE),
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
        came = (place, *(stage.get(key, NOWHERE).rank for stage in stages))
        return (*(_LAST if rank is None else rank for rank in came), key)


def _shown(
    ranking: Ranking, per_doc: int | None, keys: Collection[Key], reading: Reading
) -> tuple[dict[Key, int], dict[Key, Withheld]]:
    """Return the ranks of those passages that are hits, and why others are none."""
    order = [key for key, _ in ranking.order]
    shown = {
        chunk.key: rank
        for rank, chunk in enumerate(arrange(order, reading.chunks, per_doc), start=1)
    }
    lost = [key for key in order if key in keys and key not in shown]
    free = {chunk.key for chunk in arrange(order, reading.chunks, None)} if lost else set()
    withheld: dict[Key, Withheld] = {key: "per_doc" if key in free else "copies" for key in lost}
    return {key: rank for key, rank in shown.items() if key in keys}, withheld
