"""Merging: one order of candidates out of both channels and of where their words stand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kebab.core.chunk import KeyedScore
from kebab.core.ports import Vectors
from kebab.core.query import Mode
from kebab.search import feedback, fuse, lexical
from kebab.search.aim import aim
from kebab.search.lexical import Words
from kebab.search.lifts import Scores, lifts, raised
from kebab.search.parse import Question
from kebab.search.reading import Reading
from kebab.search.trust import trust
from kebab.search.vector import Nearness
from kebab.wire.search import DegradedChannel

FRONT = 300
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
        question: Question,
        words: Words,
        found: Sequence[KeyedScore],
        near: Nearness | DegradedChannel | None,
        reading: Reading,
    ) -> Order:
        """Return the order of all candidates.

        Args:
            question: What is asked.
            words: What its terms are worth.
            found: What the lexical channel found.
            near: What the vectors found; why there are none, or None where they were not asked.
            reading: What the passages are read through.
        """
        goal, shares = aim(question), lexical.evidence(found, words)
        scores: Scores = shares
        method = Mode.LEXICAL
        if isinstance(near, Nearness):
            if not found:
                meaning = near.model.cosine_scale.shares(near.cosines)
                return Order(ranked=fuse.ranked(meaning), method=Mode.VECTOR, fused=meaning)
            scores, method = self._fused(goal.need, found, shares, near, reading), Mode.HYBRID
        front = {key: scores[key] for key in fuse.front(scores, FRONT)}
        added = dict(lifts(question, goal, words, shares, front, reading))
        for lift in added.values():
            front = raised(front, lift)
        ranked = fuse.ranked({**scores, **front})
        return Order(ranked=ranked, method=method, fused=scores, lifts=added)

    def _fused(
        self,
        need: float,
        found: Sequence[KeyedScore],
        shares: Scores,
        near: Nearness,
        reading: Reading,
    ) -> Scores:
        """Return the evidence of both channels; of a need, also by way of its best passage."""
        first = reading.chunks([key for key, _ in found[:_TASTED]])
        known = trust(near.model.language_trust, (chunk.text for chunk in first))
        share = fuse.lexical_share(known, need)
        scores = fuse.fuse(shares, near.model.cosine_scale.shares(near.cosines), share)
        vectors = self._vectors() if need * known > 0 else None
        if vectors is None:
            return scores
        front = fuse.front(scores, FRONT)
        alone = {key: near.cosines[key] for key in front if key in near.cosines}
        cosines = feedback.again(alone, front[0], need * known, vectors)
        foremost = {key: shares.get(key, 0.0) for key in front}
        return {**scores, **fuse.fuse(foremost, near.model.cosine_scale.shares(cosines), share)}
