"""Ranking: both channels asked, one order of candidates with their evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kebab.core.chunk import KeyedScore
from kebab.core.hit import Degraded, Evidence
from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.query import Mode, Query
from kebab.search import fuse, lexical
from kebab.search.lexical import Words
from kebab.search.parse import Question, parse
from kebab.search.stages import Stages
from kebab.search.vector import Channel, Nearness

POOL = 1000
"""How many candidates each channel gives, whatever page is asked for: pages agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates in order with their fused evidence, and what made them."""

    order: Sequence[KeyedScore]
    method: Mode
    """The channels whose evidence the order is by."""
    words: Words
    lexical: Mapping[Key, tuple[int | None, float]]
    vector: Mapping[Key, tuple[int | None, float]]
    degraded: tuple[Degraded, ...]

    def evidence(self, key: Key, fused: float) -> Evidence:
        """Return the place of a candidate in each channel."""
        lexical_rank, lexical_score = self.lexical.get(key, (None, None))
        vector_rank, vector_score = self.vector.get(key, (None, None))
        return Evidence(
            lexical_rank=lexical_rank,
            lexical_score=lexical_score,
            vector_rank=vector_rank,
            vector_score=vector_score,
            fusion_score=fused,
        )


class Ranker:
    """Ranks the chunks of one snapshot."""

    def __init__(self, library: LibraryReader, channel: Channel) -> None:
        self._library = library
        self._channel = channel

    def rank(self, query: Query, stages: Stages) -> Ranking:
        """Return the candidates of a query; without its phrases when none holds them all."""
        question = parse(query.text, query.filters, prose=query.prose)
        stages.note("parse", len(question.terms))
        ranking = self._rank(question, query.mode, stages)
        if ranking.order or not question.required:
            return ranking
        words = Degraded(
            channel="lexical", reason="no passage holds the quoted words as they stand", hint=None
        )
        loose = self._rank(replace(question, required=()), query.mode, stages)
        return replace(loose, degraded=(*loose.degraded, words))

    def _rank(self, question: Question, mode: Mode, stages: Stages) -> Ranking:
        words = lexical.weigh(self._library, question)
        if not question.terms:
            return self._listing(question, words, stages)
        found: list[KeyedScore] = []
        if mode is not Mode.VECTOR:
            found = lexical.search(self._library, question, words, POOL)
            stages.note("lexical", len(found), f"{len(words.terms)} terms")
        near = None if mode is Mode.LEXICAL else self._near(question, found, mode, stages)
        ranking = _combined(words, found, near)
        stages.note("fuse", len(ranking.order), ranking.method.value)
        return ranking

    def _near(
        self, question: Question, found: Sequence[KeyedScore], mode: Mode, stages: Stages
    ) -> Nearness | Degraded:
        keys = [key for key, _ in found]
        near = self._channel.ask(question, keys, POOL, mode)
        if isinstance(near, Degraded):
            stages.note("vector", 0, near.reason)
        else:
            stages.note("vector", len(near.near), "remembered" if near.remembered else near.version)
        return near

    def _listing(self, question: Question, words: Words, stages: Stages) -> Ranking:
        """Return what passes the filters when a query holds nothing else."""
        keys = (self._library.allowed(question.filters) or [])[:POOL]
        stages.note("filter", len(keys))
        return Ranking(
            order=[(key, 0.0) for key in keys],
            method=Mode.LEXICAL,
            words=words,
            lexical={},
            vector={},
            degraded=(),
        )


def _combined(
    words: Words, found: Sequence[KeyedScore], near: Nearness | Degraded | None
) -> Ranking:
    """Return one order of what the channels found."""
    shares = lexical.evidence(found, words)
    degraded: tuple[Degraded, ...] = ()
    cosines: Mapping[Key, float] = {}
    method, order = Mode.LEXICAL, fuse.ranked(shares)
    if isinstance(near, Degraded):
        degraded = (near,)
    elif near is not None:
        scale = fuse.scale(near.version)
        cosines = near.cosines
        meaning = {key: scale.share(cosine) for key, cosine in cosines.items()}
        method = Mode.HYBRID if found else Mode.VECTOR
        order = fuse.fuse(shares, meaning) if found else fuse.ranked(meaning)
    return Ranking(
        order=order,
        method=method,
        words=words,
        lexical=_places(found, dict(found)),
        vector=_places([] if isinstance(near, Degraded) or near is None else near.near, cosines),
        degraded=degraded,
    )


def _places(
    ranked: Sequence[KeyedScore], scores: Mapping[Key, float]
) -> dict[Key, tuple[int | None, float]]:
    """Return rank and score of every candidate that a channel scored; beyond its list no rank."""
    ranks = {key: rank for rank, (key, _) in enumerate(ranked, start=1)}
    return {key: (ranks.get(key), score) for key, score in scores.items()}
