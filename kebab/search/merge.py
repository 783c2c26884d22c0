"""Merges the rankings of several queries that are answered together."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

from kebab.core.ids import Key
from kebab.core.queries import Filters, QueryInterpretation
from kebab.search.answerability import FAIR, Calibration
from kebab.search.retrieval import RankedCandidates
from kebab.wire.search import DegradedChannel

_HIGHLIGHT_SHARE = 0.25
"""The least weight of a highlighted token, as a share of the heaviest one's."""

_NOTHING_READ = QueryInterpretation()


class QueryResult:
    """The ranking of one query, what turns its evidence into scores, and facts about the query."""

    def __init__(
        self,
        candidates: RankedCandidates,
        calibration: Calibration,
        interpretation: QueryInterpretation = _NOTHING_READ,
        absent_terms: tuple[str, ...] = (),
        *,
        convincing: bool = False,
    ) -> None:
        self.candidates = candidates
        self.calibration = calibration
        self.interpretation = interpretation
        self.absent_terms = absent_terms
        self.convincing = convincing

    @cached_property
    def evidence(self) -> dict[Key, float]:
        """The evidence of each chunk, the best chunk first."""
        return dict(self.candidates.ranked)

    @cached_property
    def highlight_weights(self) -> dict[str, float]:
        """The weights of the tokens to highlight.

        Beside a rare word, highlights of frequent words only distract.
        """
        weights = self.candidates.weighted.weights
        least = max(weights.values(), default=0.0) * _HIGHLIGHT_SHARE
        return {token: weight for token, weight in weights.items() if weight >= least}

    @property
    def degraded(self) -> tuple[DegradedChannel, ...]:
        """The channels that were not available."""
        return self.candidates.degraded

    def score(self, key: Key) -> float:
        """Return the calibrated score of a chunk, 0 for one that the query did not find."""
        evidence = self.evidence.get(key)
        return 0.0 if evidence is None else self.calibration.score(evidence)

    @property
    def first(self) -> Key | None:
        """The best chunk, also when it is weak; None without any."""
        return next(iter(self.evidence), None)

    def list_leading(self) -> list[Key]:
        """Return the first chunk and those that are better than weak, the best first."""
        return [key for key in self.evidence if key == self.first or self.score(key) >= FAIR]


class Match(NamedTuple):
    """How a chunk was found: the query that it answers best, and all queries that found it."""

    result: QueryResult
    evidence: float
    score: float
    queries: tuple[int, ...]


class MergedRanking:
    """The chunks that several queries found, in one order.

    Args:
        results: The result of each query.
    """

    def __init__(self, results: Sequence[QueryResult]) -> None:
        self.results = results

    @cached_property
    def keys(self) -> list[Key]:
        """The chunks in order.

        First the queries take turns with their first chunk and those that are better than weak: in
        each turn every query gives its next one, the best score first. The other chunks follow by
        their best score. So the first chunk of each query is near the top.
        """
        if len(self.results) == 1:
            return list(self.results[0].evidence)
        ordered: dict[Key, None] = {}
        for turn in zip_longest(*(result.list_leading() for result in self.results)):
            found = {key for key in turn if key is not None}
            ordered.update(dict.fromkeys(sorted(found, key=self._sort_key)))
        others = {key for result in self.results for key in result.evidence}.difference(ordered)
        return [*ordered, *sorted(others, key=self._sort_key)]

    @cached_property
    def first_keys(self) -> frozenset[Key | None]:
        """The first chunk of each query."""
        return frozenset(result.first for result in self.results)

    def _sort_key(self, key: Key) -> tuple[float, Key]:
        return -max(result.score(key) for result in self.results), key

    def find_match(self, key: Key) -> Match:
        """Return how a chunk was found.

        A query found its first chunk and those that are better than weak for it. Any other chunk
        was found by the query with the highest score.
        """
        scores = [result.score(key) for result in self.results]
        listed = [index for index, result in enumerate(self.results) if key in result.evidence]
        best = max(listed, key=lambda index: scores[index])
        result = self.results[best]
        finders = tuple(
            index
            for index in listed
            if index == best or scores[index] >= FAIR or key == self.results[index].first
        )
        return Match(result, result.evidence[key], scores[best], finders)

    def weigh_highlights(self, key: Key) -> Mapping[str, float]:
        """Return the weights of the tokens of all queries that found a chunk, to highlight them."""
        weights: dict[str, float] = {}
        for index in reversed(self.find_match(key).queries):
            weights |= self.results[index].highlight_weights
        return weights


def merge_interpretations(parts: Sequence[QueryInterpretation]) -> QueryInterpretation:
    """Return how several queries were read together: everything that occurs in any of them.

    Of two values of a filter that takes only one, the first is reported.
    """
    first, *others = parts
    for other in others:
        first = QueryInterpretation(
            terms=tuple(dict.fromkeys((*first.terms, *other.terms))),
            phrases=tuple(dict.fromkeys((*first.phrases, *other.phrases))),
            excluded=tuple(dict.fromkeys((*first.excluded, *other.excluded))),
            filters=_merge_filters(first.filters, other.filters),
        )
    return first


def _merge_filters(one: Filters, other: Filters) -> Filters:
    merged: dict[str, Any] = {}
    for name, value in asdict(other).items():
        known = getattr(one, name)
        if isinstance(value, tuple):
            merged[name] = tuple(dict.fromkeys((*known, *value)))
        else:
            merged[name] = value if known is None else known
    return replace(one, **merged)
