"""Retrieves candidates from both channels."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import UNSET, structs

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.model_profile import ModelProfile
from kebab.core.ports import LibraryReader
from kebab.core.queries import Mode, Query
from kebab.errors.catalog import InvalidInput
from kebab.search import lexical
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import ParsedQuery, parse_query
from kebab.search.ranking import ChannelResults, Merger, Order, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches, VectorRetriever
from kebab.wire.search import DegradedChannel, Lift, ModeName, Retrieval
from kebab.wire.why import Standing

CANDIDATE_LIMIT = 1000
"""How many candidates each channel gives, whatever page is asked for: pages agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidates:
    """Candidates in order with their fused evidence, and what made them."""

    order: Sequence[KeyedScore]
    method: Mode
    """The channels whose evidence the order is by."""
    question: ParsedQuery
    """What was asked in the end: without its phrases when no passage held them all."""
    words: WeightedTerms
    lexical: ChannelResults
    vector: ChannelResults
    degraded: tuple[DegradedChannel, ...]
    fused: Mapping[Key, float] = field(default_factory=dict)
    """The evidence of both channels before anything was added to it."""
    lifts: Mapping[str, Mapping[Key, float]] = field(default_factory=dict)
    """What was added to the fused evidence of a candidate, by its reason."""
    model: ModelProfile | None = None
    """The model of the vectors; None when no vectors were compared."""

    def retrieval(self, key: Key, fused: float, *, trace: bool) -> Retrieval:
        """Return how a candidate was found; with `trace`, also what was added to its evidence."""
        lexical, vector = self.lexical.rank(key), self.vector.rank(key)
        only: ModeName = "lexical" if vector is None else "vector"
        return Retrieval(
            method="hybrid" if lexical and vector else only,
            lexical_rank=lexical,
            lexical_score=self.lexical.scores.get(key),
            vector_rank=vector,
            vector_score=self.vector.scores.get(key),
            fusion_score=fused,
            lifts=self.added(key) if trace else UNSET,
        )

    def added(self, key: Key) -> list[Lift]:
        """Return what was added to the evidence of a candidate; reasons that add 0 are left out."""
        found = ((reason, lift.get(key)) for reason, lift in self.lifts.items())
        return [Lift(reason=reason, value=value) for reason, value in found if value]


class Ranker:
    """Ranks the chunks of one snapshot."""

    def __init__(self, library: LibraryReader, channel: VectorRetriever) -> None:
        self._library = library
        self._channel = channel
        self._merger = Merger(channel.vectors)

    def rank(self, query: Query, stages: StageTimer, reading: PassageCache) -> RankedCandidates:
        """Return the candidates of a query; without its phrases when none holds them all.

        `reading` keeps the passages that had to be looked into.

        Raises:
            InvalidInput: The query is empty.
        """
        question = understood(query)
        stages.note("parse", len(question.terms))
        return self.answer(question, query.mode, stages, reading)

    def answer(
        self, question: ParsedQuery, mode: Mode, stages: StageTimer, reading: PassageCache
    ) -> RankedCandidates:
        """Return the candidates of a question, as `rank` does."""
        ranking = self._rank(question, mode, stages, reading)
        if ranking.order or not question.required:
            return ranking
        words = DegradedChannel(
            channel="lexical", reason="no passage holds the quoted words as they stand", hint=None
        )
        loose = self._rank(replace(question, required=()), mode, stages, reading)
        return replace(loose, degraded=(*loose.degraded, words))

    def _rank(
        self, question: ParsedQuery, mode: Mode, stages: StageTimer, reading: PassageCache
    ) -> RankedCandidates:
        if mode is Mode.HYBRID and question.terms:
            self._channel.prepare(question)
        words = lexical.weigh_terms(self._library, question)
        if not question.terms:
            return self._listing(question, words, stages)
        found: list[KeyedScore] = []
        if mode is not Mode.VECTOR:
            found = lexical.search_lexical(self._library, question, words, CANDIDATE_LIMIT)
            stages.note("lexical", len(found), f"{len(words.terms)} terms")
        near = None if mode is Mode.LEXICAL else self._near(question, found, mode, stages)
        order = self._merger.order(question, words, found, near, reading)
        stages.note("fuse", len(order.ranked), order.method.value)
        return _found(question, order, words, found, near)

    def _near(
        self, question: ParsedQuery, found: Sequence[KeyedScore], mode: Mode, stages: StageTimer
    ) -> VectorMatches | DegradedChannel:
        keys = [key for key, _ in found]
        near = self._channel.ask(question, keys, CANDIDATE_LIMIT, mode)
        if isinstance(near, DegradedChannel):
            stages.note("vector", 0, near.reason)
        else:
            stages.note(
                "vector", len(near.near), "remembered" if near.from_cache else near.model.version
            )
        return near

    def _listing(
        self, question: ParsedQuery, words: WeightedTerms, stages: StageTimer
    ) -> RankedCandidates:
        """Return what passes the filters when a query holds nothing else."""
        keys = (self._library.list_allowed_keys(question.filters) or [])[:CANDIDATE_LIMIT]
        stages.note("filter", len(keys))
        return RankedCandidates(
            order=[(key, 0.0) for key in keys],
            method=Mode.LEXICAL,
            question=question,
            words=words,
            lexical=ChannelResults(),
            vector=ChannelResults(),
            degraded=(),
        )


def understood(query: Query) -> ParsedQuery:
    """Return what a query asks for.

    Raises:
        InvalidInput: It is empty.
    """
    if not query.text.strip():
        raise InvalidInput(field="$.query", cause="it is empty")
    return parse_query(query.text, query.filters, prose=query.prose)


def _found(
    question: ParsedQuery,
    order: Order,
    words: WeightedTerms,
    found: Sequence[KeyedScore],
    near: VectorMatches | DegradedChannel | None,
) -> RankedCandidates:
    """Return an order with the places of its candidates in each channel."""
    vectors = near if isinstance(near, VectorMatches) else None
    return RankedCandidates(
        order=order.ranked,
        method=order.method,
        question=question,
        words=words,
        lexical=ChannelResults(found),
        vector=ChannelResults(vectors.near, vectors.cosines) if vectors else ChannelResults(),
        degraded=(near,) if isinstance(near, DegradedChannel) else (),
        fused=order.fused,
        lifts=order.lifts,
        model=vectors.model if vectors else None,
    )


UNRANKED = Standing(rank=None, score=None, candidate=False)


class DeepRanks:
    """Finds where passages stand in the channels of one ranking, however far down.

    A channel is asked again, for all it has, only where its list was full and a passage is not
    in it.
    """

    def __init__(self, library: LibraryReader, channel: VectorRetriever) -> None:
        self._library = library
        self._channel = channel

    def words(self, ranking: RankedCandidates, keys: Collection[Key]) -> dict[Key, Standing]:
        """Return where passages stand by their words."""
        found = _listed(ranking.lexical, keys)
        if len(found) < len(keys) and len(ranking.lexical.ranked) >= CANDIDATE_LIMIT:
            all_ = lexical.search_lexical(
                self._library, ranking.question, ranking.words, self._library.count_chunks()
            )
            found = _beyond(found, all_, keys)
        return found

    def meaning(
        self, ranking: RankedCandidates, keys: Collection[Key], mode: Mode
    ) -> dict[Key, Standing]:
        """Return where passages stand by their vectors."""
        found = _listed(ranking.vector, keys)
        if len(found) < len(keys) and len(ranking.vector.ranked) >= CANDIDATE_LIMIT:
            count = self._library.count_chunks()
            near = self._channel.ask(ranking.question, keys, count, mode)
            if not isinstance(near, DegradedChannel):
                found = _beyond(found, near.near, keys)
        return found


def find_standings(ordered: Sequence[KeyedScore], keys: Collection[Key]) -> dict[Key, Standing]:
    """Return where passages stand in an order."""
    return {
        key: Standing(rank=rank, score=score, candidate=True)
        for rank, (key, score) in enumerate(ordered, start=1)
        if key in keys
    }


def _listed(listing: ChannelResults, keys: Collection[Key]) -> dict[Key, Standing]:
    """Return those of the passages that a channel gave."""
    return {
        key: Standing(rank=rank, score=listing.scores[key], candidate=True)
        for key in keys
        if (rank := listing.rank(key)) is not None
    }


def _beyond(
    listed: dict[Key, Standing], ordered: Sequence[KeyedScore], keys: Collection[Key]
) -> dict[Key, Standing]:
    """Return the standings with those of passages that only the whole order has."""
    deep = find_standings(ordered, keys)
    return {
        key: listed.get(key) or structs.replace(one, candidate=False) for key, one in deep.items()
    }
