"""Retrieves and ranks the candidates of a query; `kebab.search.engine` makes pages of them.

The lexical channel finds chunks by words, and the vector channel by the cosines of embeddings.
Evidence is their scores on a common scale, from 0 to about 1. It is fused, and boosts are added
(`kebab.search.ranking`). When a channel is degraded, it cannot answer, and the reply says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from kebab.core.chunks import NO_BACKGROUND, CosineBackground, Key, KeyedScore, ModelProfile
from kebab.core.queries import Filters, Mode, Query
from kebab.errors.catalog import InvalidInput
from kebab.search import lexical, reordering
from kebab.search.lexical import WeightedTerms, use_known_forms
from kebab.search.names import NAME, NameMatches, boost_named, match_names
from kebab.search.query_parser import (
    ParsedQuery,
    Phrase,
    classify_intent,
    is_question,
    parse_query,
    split_hashtags,
)
from kebab.search.ranking import (
    BoostScores,
    Scores,
    add_boost,
    apply_boosts,
    fuse_channels,
    measure_lexical_strength,
    rank_by_score,
)
from kebab.search.snippet import PassageCache
from kebab.wire.search import DegradedChannel, Lift, ModeName, Retrieval, TraceStage

if TYPE_CHECKING:
    from kebab.search.vector import VectorMatches, VectorRetriever
    from kebab.store.sqlite.reader import SqliteReader

CANDIDATE_LIMIT = 1000
"""How many candidates each channel gives; it is the same for every page, so that pages agree."""


class StageTimer:
    """Records the stages of a search; each lasts from the end of the stage before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = self._last = clock()
        self.stages: list[TraceStage] = []

    def record(self, stage: str, candidates: int, note: str = "") -> None:
        """Record the end of a stage and the number of its candidates."""
        now = self._clock()
        cost = round((now - self._last) * 1000, 3)
        self.stages.append(
            TraceStage(stage=stage, duration_ms=cost, candidates=candidates, note=note)
        )
        self._last = now

    def get_elapsed_ms(self) -> float:
        """Return how long the search has taken."""
        return round((self._clock() - self._start) * 1000, 3)


class ChannelResults:
    """The candidates of one channel: the best in order, and the scores of all that have one.

    By default these are the scores of the listed candidates.
    """

    def __init__(
        self, ranked: Sequence[KeyedScore] = (), scores: Mapping[Key, float] | None = None
    ) -> None:
        self.ranked = ranked
        self.scores = dict(ranked) if scores is None else scores

    @cached_property
    def ranks(self) -> dict[Key, int]:
        """The rank of each listed candidate, from 1."""
        return {key: rank for rank, (key, _) in enumerate(self.ranked, start=1)}


class RankedCandidates(Struct, frozen=True, kw_only=True):
    """The candidates of a query in order, with the evidence of both channels."""

    ranked: Sequence[KeyedScore] = ()
    method: Mode = Mode.LEXICAL
    """The channels that the order is based on."""
    parsed: ParsedQuery
    """The query as it was searched."""
    weighted: WeightedTerms
    lexical: ChannelResults = field(default_factory=ChannelResults)
    vector: ChannelResults = field(default_factory=ChannelResults)
    degraded: tuple[DegradedChannel, ...] = ()
    fused: Scores = field(default_factory=dict)
    """The evidence of both channels without boosts."""
    boosts: BoostScores = field(default_factory=dict)
    named: NameMatches = field(default_factory=NameMatches)
    """The documents that the query may name."""
    dropped: tuple[Phrase, ...] = ()
    """The phrases of a question that were dropped: no passage holds them all."""
    model: ModelProfile | None = None
    """The model of the vectors; None when no vectors were compared."""
    background: CosineBackground = NO_BACKGROUND
    """The cosines of the query with the stored vectors."""
    match: float | None = None
    """How far the tokens of the first passages match; None when they were not compared."""

    def add_note(self, channel: str, reason: str, hint: str | None = None) -> "RankedCandidates":
        """Return the candidates with what a channel could not do."""
        note = DegradedChannel(channel=channel, reason=reason, hint=hint)
        return replace(self, degraded=(*self.degraded, note))

    def move(self, name: str, moved: Mapping[Key, float]) -> "RankedCandidates":
        """Return the candidates, first those that have changed places, with their new scores."""
        if not moved:
            return self
        before = dict(self.ranked)
        lifts = {key: score - before[key] for key, score in moved.items()}
        others = (one for one in self.ranked if one[0] not in moved)
        return replace(self, ranked=[*moved.items(), *others], boosts={**self.boosts, name: lifts})

    def build_retrieval(self, key: Key, fused: float, *, trace: bool) -> Retrieval:
        """Return how a candidate was found; with `trace` also its boosts."""
        lexical, vector = self.lexical.ranks.get(key), self.vector.ranks.get(key)
        only: ModeName = "lexical" if vector is None else "vector"
        found = ((name, boost.get(key)) for name, boost in self.boosts.items())
        return Retrieval(
            method="hybrid" if lexical and vector else only,
            lexical_rank=lexical,
            lexical_score=self.lexical.scores.get(key),
            vector_rank=vector,
            vector_score=self.vector.scores.get(key),
            fusion_score=fused,
            lifts=[Lift(reason=name, value=value) for name, value in found if value]
            if trace
            else UNSET,
        )


_LEAST_HELD = 0.25
"""The least lexical evidence of the best passage, below which ranks by words say little."""


def merge_documents(candidates: RankedCandidates, passages: PassageCache) -> RankedCandidates:
    """Return the candidates of a question or a need, ordered by documents where many are long.

    Topics, names and code keep their order, and so does what only one channel found.
    """
    ranked, channels = candidates.ranked, (candidates.lexical.ranked, candidates.vector.ranked)
    if not all(channels) or reordering.CODE in candidates.boosts:
        return candidates
    held = channels[0][0][1] / (candidates.weighted.max_score or 1.0)
    if held < _LEAST_HELD or classify_intent(candidates.parsed).topic == 1:
        return candidates
    if candidates.named.names_owner(ranked[0][0], passages):
        return candidates
    moved = reordering.order_documents(ranked, channels, passages)
    return candidates.move(reordering.DOCUMENTS, moved)


class Ranker:
    """Ranks the chunks of one snapshot; a search by words opens no retriever of vectors."""

    def __init__(
        self, library: "SqliteReader", open_retriever: "Callable[[], VectorRetriever]"
    ) -> None:
        self._library = library
        self._open_retriever = open_retriever
        self._counts = lexical.TokenCounts(library)

    def rank(self, query: Query, timer: StageTimer, passages: PassageCache) -> RankedCandidates:
        """Return the candidates of a query; `passages` caches the passages that are read.

        Raises:
            InvalidInput: The query is empty, or only excludes.
        """
        if not (query.text.strip() or query.filters.is_active):
            raise InvalidInput(field="$.query", cause="it is empty")
        text, filters = self._read_hashtags(query)
        parsed = parse_query(text, filters, prose=query.prose)
        if parsed.excludes_all:
            weighted = lexical.weigh_terms(self._library, parsed, self._counts)
            nothing = RankedCandidates(parsed=parsed, weighted=weighted)
            return nothing.add_note("lexical", "every word of the query is excluded, too")
        parsed = use_known_forms(self._library, parsed, self._counts)
        timer.record("parse", len(parsed.terms))
        found = self.rank_parsed(parsed, query.mode, timer, passages)
        if parsed.required and not found.ranked and (query.prose or is_question(parsed.plain)):
            loose = self.rank_parsed(replace(parsed, required=()), query.mode, timer, passages)
            found = replace(loose, dropped=parsed.required)
            found = found.add_note("lexical", "no passage holds the quoted words as they stand")
        return found

    def _read_hashtags(self, query: Query) -> tuple[str, Filters]:
        """Return a query whose hashtags are filters, if all are tags of documents.

        Without other words they stay words too, so that a passage with the tag comes first.
        """
        filters = query.filters
        text, tags = split_hashtags(query.text)
        if query.prose or not tags or filters.tag:
            return query.text, filters
        by_tag = [replace_fields(filters, tag=(tag,)) for tag in tags]
        if not all(map(self._library.list_allowed_keys, by_tag)):
            return query.text, filters
        return text, replace_fields(filters, tag=tags)

    def rank_parsed(
        self, parsed: ParsedQuery, mode: Mode, timer: StageTimer, passages: PassageCache
    ) -> RankedCandidates:
        """Return the candidates of a parsed query."""
        if mode is Mode.HYBRID and parsed.terms:
            self._open_retriever().prepare(parsed)  # the model loads while words are searched
        weighted = lexical.weigh_terms(self._library, parsed, self._counts)
        if not parsed.terms:
            return self._list_allowed(parsed, weighted, timer, passages)
        found: list[KeyedScore] = []
        named = NameMatches()
        if mode is not Mode.VECTOR:
            found = lexical.search_lexical(self._library, parsed, weighted, CANDIDATE_LIMIT)
            timer.record("lexical", len(found), f"{len(weighted.terms)} terms")
            named = match_names(self._library, parsed, weighted)
            timer.record("names", len(named.documents))
        result = None
        if mode is not Mode.LEXICAL:
            keys = [key for key, _ in found]
            result = self._open_retriever().retrieve(parsed, keys, CANDIDATE_LIMIT, mode)
            if isinstance(result, DegradedChannel):
                timer.record("vector", 0, result.reason)
            else:
                note = "remembered" if result.from_cache else result.model.version
                timer.record("vector", len(result.nearest), note)
        candidates = self._merge(parsed, weighted, found, named, result, passages)
        timer.record("fuse", len(candidates.ranked), candidates.method.value)
        return candidates

    def _merge(
        self,
        parsed: ParsedQuery,
        weighted: WeightedTerms,
        found: Sequence[KeyedScore],
        named: NameMatches,
        result: "VectorMatches | DegradedChannel | None",
        passages: PassageCache,
    ) -> RankedCandidates:
        # Feedback, proximity and diversity rest on the words, so need falls where these say little.
        intent, method = classify_intent(parsed), Mode.LEXICAL
        # A share of what a good passage reaches, from 0 to slightly above 1.
        evidence = {key: score / (weighted.max_score or 1.0) for key, score in found}
        fused: Scores = evidence
        matches = None if isinstance(result, DegradedChannel) else result
        if matches is not None:
            method = Mode.HYBRID if found else Mode.VECTOR
            index = self._open_retriever().vectors
            strength = measure_lexical_strength(evidence)
            intent = replace(intent, need=intent.need * strength, strength=strength)
            fused = fuse_channels(parsed, intent.need, evidence, matches, passages, index)
        scores: Scores = fused
        boosts: BoostScores = {}
        if method is not Mode.VECTOR:
            scores, boosts = apply_boosts(parsed, intent, weighted, fused, passages)
        if named.documents:
            adds = not (parsed.required or parsed.excluded)
            boosts = {**boosts, NAME: boost_named(scores, named, passages, adds=adds)}
            scores = add_boost({**dict.fromkeys(boosts[NAME], 0.0), **scores}, boosts[NAME])
        ranked = rank_by_score(scores)
        candidates = RankedCandidates(
            ranked=ranked,
            method=method,
            parsed=parsed,
            weighted=weighted,
            named=named,
            lexical=ChannelResults(found),
            vector=ChannelResults(matches.nearest, matches.cosines)
            if matches
            else ChannelResults(),
            degraded=tuple(
                note
                for note in (result if matches is None else matches.note,)
                if isinstance(note, DegradedChannel)
            ),
            fused=fused,
            boosts=boosts,
            model=matches.model if matches else None,
            background=matches.background if matches else NO_BACKGROUND,
        )
        if method is Mode.VECTOR:
            return candidates
        is_named = bool(ranked) and named.names_owner(ranked[0][0], passages)
        spread = boosts.get("spread", {})
        moved = reordering.order_code(
            ranked, parsed, weighted.rarities, spread, passages, is_named=is_named
        )
        return candidates.move(reordering.CODE, moved)

    def _list_allowed(
        self,
        parsed: ParsedQuery,
        weighted: WeightedTerms,
        timer: StageTimer,
        passages: PassageCache,
    ) -> RankedCandidates:
        """Return the chunks that pass the filters and exclusions of a query without terms.

        The first of each document come before the others.
        """
        excluded = set(lexical.find_holding(self._library, parsed.filters, parsed.excluded, "OR"))
        allowed = self._library.list_allowed_keys(parsed.filters) or []
        keys = [key for key in allowed if key not in excluded][:CANDIDATE_LIMIT]
        owners = passages.find_doc_numbers(keys)
        firsts = {owner: key for key, owner in reversed(owners.items())}.values()
        ordered = sorted(keys, key=lambda key: key not in firsts)
        timer.record("filter", len(keys))
        ranked = [(key, 0.0) for key in ordered]
        return RankedCandidates(ranked=ranked, parsed=parsed, weighted=weighted)
