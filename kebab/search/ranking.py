"""Ranks candidates by fused evidence and boosts, and traces the stages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.ports import Vectors
from kebab.core.queries import Mode
from kebab.search import boosts, fusion, lexical
from kebab.search.boosts import Scores, add_boost, compute_boosts
from kebab.search.fusion import estimate_trust
from kebab.search.lexical import WeightedTerms
from kebab.search.query_intent import classify_intent
from kebab.search.query_parser import ParsedQuery
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches
from kebab.wire.search import DegradedChannel, TraceStage

BOOSTED_LIMIT = 300
"""How many candidates, by their fused evidence, are compared with each other."""

_TASTED = 5
"""How many passages show which language a question is answered in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Candidates by falling evidence, the channels it is of, and what was added by its reason."""

    ranked: list[KeyedScore]
    method: Mode
    fused: Scores
    """The evidence before anything was added."""
    lifts: Mapping[str, Scores] = field(default_factory=dict)


class Merger:
    """Merges what the channels found in one snapshot."""

    def __init__(self, vectors: Callable[[], Vectors | None]) -> None:
        self._vectors = vectors

    def order(
        self,
        question: ParsedQuery,
        words: WeightedTerms,
        found: Sequence[KeyedScore],
        near: VectorMatches | DegradedChannel | None,
        reading: PassageCache,
    ) -> Order:
        """Return the order of all candidates.

        Args:
            question: What is asked.
            words: What its terms are worth.
            found: What the lexical channel found.
            near: What the vectors found; why there are none, or None where they were not asked.
            reading: What the passages are read through.
        """
        goal, shares = classify_intent(question), lexical.compute_evidence(found, words)
        scores: Scores = shares
        method = Mode.LEXICAL
        if isinstance(near, VectorMatches):
            if not found:
                meaning = near.model.cosine_scale.shares(near.cosines)
                return Order(
                    ranked=fusion.rank_by_score(meaning), method=Mode.VECTOR, fused=meaning
                )
            scores, method = self._fused(goal.need, found, shares, near, reading), Mode.HYBRID
        front = {key: scores[key] for key in fusion.select_best(scores, BOOSTED_LIMIT)}
        added = dict(compute_boosts(question, goal, words, shares, front, reading))
        for lift in added.values():
            front = add_boost(front, lift)
        ranked = fusion.rank_by_score({**scores, **front})
        return Order(ranked=ranked, method=method, fused=scores, lifts=added)

    def _fused(
        self,
        need: float,
        found: Sequence[KeyedScore],
        shares: Scores,
        near: VectorMatches,
        reading: PassageCache,
    ) -> Scores:
        """Return the evidence of both channels; of a need, also by way of its best passage."""
        first = reading.load_chunks([key for key, _ in found[:_TASTED]])
        known = estimate_trust(near.model.language_trust, (chunk.text for chunk in first))
        share = fusion.compute_lexical_share(known, need)
        scores = fusion.fuse(shares, near.model.cosine_scale.shares(near.cosines), share)
        vectors = self._vectors() if need * known > 0 else None
        if vectors is None:
            return scores
        front = fusion.select_best(scores, BOOSTED_LIMIT)
        alone = {key: near.cosines[key] for key in front if key in near.cosines}
        cosines = boosts.apply_relevance_feedback(alone, front[0], need * known, vectors)
        foremost = {key: shares.get(key, 0.0) for key in front}
        return {**scores, **fusion.fuse(foremost, near.model.cosine_scale.shares(cosines), share)}


class ChannelResults:
    """Candidates of one channel.

    Args:
        ranked: The best ones in order.
        scores: Those of every candidate that is known, beyond the list too; by default the list's.
    """

    def __init__(
        self, ranked: Sequence[KeyedScore] = (), scores: Mapping[Key, float] | None = None
    ) -> None:
        self.ranked = ranked
        self.scores = dict(ranked) if scores is None else scores

    def __contains__(self, key: Key) -> bool:
        """Return whether the channel knows a score of a candidate."""
        return key in self.scores

    def rank(self, key: Key) -> int | None:
        """Return the place of a candidate, from 1; None beyond the list."""
        return self._ranks.get(key)

    @cached_property
    def _ranks(self) -> dict[Key, int]:
        return {key: rank for rank, (key, _) in enumerate(self.ranked, start=1)}


class StageTimer:
    """Notes stages as they end; each lasts from the end of the one before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = self._last = clock()
        self._stages: list[TraceStage] = []

    def note(self, stage: str, candidates: int, note: str = "") -> None:
        """Note that a stage has ended and how many candidates it gave on."""
        now = self._clock()
        cost = round((now - self._last) * 1000, 3)
        self._stages.append(
            TraceStage(stage=stage, duration_ms=cost, candidates=candidates, note=note)
        )
        self._last = now

    def elapsed_ms(self) -> float:
        """Return how long the search has taken."""
        return round((self._clock() - self._began) * 1000, 3)

    def all(self) -> tuple[TraceStage, ...]:
        """Return the stages in order."""
        return tuple(self._stages)
