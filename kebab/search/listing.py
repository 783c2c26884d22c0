"""Listings: what a channel gave, and what it knows of other candidates."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from kebab.core.chunk import KeyedScore
from kebab.core.ids import Key


class Listing:
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
