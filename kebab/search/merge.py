"""Merging: one order of candidates out of both channels and of where their words stand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kebab.core.chunk import KeyedScore
from kebab.core.hit import Degraded
from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader, Vectors
from kebab.core.query import Mode
from kebab.search import context, feedback, fuse, lexical, spread
from kebab.search.aim import Aim, aim
from kebab.search.closeness import closeness
from kebab.search.lexical import Words
from kebab.search.parse import Question
from kebab.search.reading import Reading
from kebab.search.trust import trust
from kebab.search.vector import Nearness

Scores: TypeAlias = Mapping[Key, float]

HEAD = 10
"""How many of the first candidates are looked into."""

_TASTED = 5
"""How many passages show which language a question is answered in."""

_IN_CONTEXT = 300
"""How many candidates their documents speak for."""

_CONTEXT = 0.5
"""What the evidence of a document counts for beside that of its passage, for a topic."""

_CLOSE = 0.2
"""What closeness counts for in a question."""

_SPREAD, _SPREAD_OF_NEED = 0.05, 0.15
"""What a passage loses for each better one of its document: of what does not ask, and of a need."""


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

    def __init__(self, library: LibraryReader, vectors: Callable[[], Vectors | None]) -> None:
        self._library = library
        self._vectors = vectors

    def order(
        self,
        question: Question,
        words: Words,
        found: Sequence[KeyedScore],
        near: Nearness | Degraded | None,
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
        shares = lexical.evidence(found, words)
        scores: Scores = shares
        method = Mode.LEXICAL
        if isinstance(near, Nearness):
            meaning = _meaning(near)
            if not found:
                return Order(ranked=fuse.ranked(meaning), method=Mode.VECTOR, fused=meaning)
            scores, method = self._fused(question, shares, near, reading), Mode.HYBRID
        fused, lifts = scores, dict(self._lifts(question, words, shares, scores, reading))
        for lift in lifts.values():
            scores = _sum(scores, lift)
        return Order(ranked=fuse.ranked(scores), method=method, fused=fused, lifts=lifts)

    def _fused(
        self, question: Question, shares: Scores, near: Nearness, reading: Reading
    ) -> dict[Key, float]:
        """Return the evidence of both channels; of a need, also by way of its best passage."""
        first = reading.chunks([key for key, _ in fuse.ranked(shares)[:_TASTED]])
        known = trust(near.version, (chunk.text for chunk in first))
        need = aim(question).need
        share = fuse.lexical_share(known, need)
        scores = fuse.fuse(shares, _meaning(near), share)
        vectors = self._vectors() if need * known > 0 else None
        if vectors is None:
            return scores
        best, _ = fuse.ranked(scores)[0]
        cosines = feedback.again(near.cosines, best, need * known, vectors)
        return fuse.fuse(shares, _meaning(near, cosines), share)

    def _lifts(
        self,
        question: Question,
        words: Words,
        shares: Scores,
        scores: Scores,
        reading: Reading,
    ) -> Iterator[tuple[str, Scores]]:
        """Yield what is added to the evidence, each after the one before has been added."""
        goal = aim(question)
        owners: Mapping[Key, DocId] = {}
        if (step := _handicap(goal)) or goal.topic:
            owners = self._library.owners([key for key, _ in fuse.ranked(scores)[:_IN_CONTEXT]])
        if goal.topic:
            lift = _scaled(context.around(shares, owners), _CONTEXT * goal.topic)
            scores = _sum(scores, lift)
            yield "context", lift
        if goal.question:
            lift = _scaled(self._close(question, words, scores, reading), _CLOSE * goal.question)
            scores = _sum(scores, lift)
            yield "closeness", lift
        if step:
            yield "spread", spread.handicap(fuse.ranked(scores), owners, step)

    def _close(self, question: Question, words: Words, scores: Scores, reading: Reading) -> Scores:
        """Return how close the words of a question stand in the first passages."""
        asked = [term.text for term in question.terms]
        first = reading.chunks([key for key, _ in fuse.ranked(scores)[:HEAD]])
        return {chunk.key: closeness(reading.body(chunk), asked, words.weights) for chunk in first}


def _handicap(goal: Aim) -> float:
    """Return what a passage loses for every better one of its document."""
    return max(_SPREAD_OF_NEED * goal.need, 0.0 if goal.asks else _SPREAD)


def _scaled(scores: Scores, factor: float) -> Scores:
    return {key: factor * score for key, score in scores.items()}


def _sum(scores: Scores, lift: Scores) -> Scores:
    return {key: score + lift.get(key, 0.0) for key, score in scores.items()}


def _meaning(near: Nearness, cosines: Scores | None = None) -> dict[Key, float]:
    """Return cosines on the scale of their model."""
    scale = fuse.scale(near.version)
    known = near.cosines if cosines is None else cosines
    return {key: scale.share(cosine) for key, cosine in known.items()}
