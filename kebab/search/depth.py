"""Depth: ranks of passages that stand beyond the candidates of a search."""

from collections.abc import Collection, Sequence

from msgspec import structs

from kebab.core.chunk import KeyedScore
from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.query import Mode
from kebab.search import lexical
from kebab.search.listing import Listing
from kebab.search.rank import POOL, Ranking
from kebab.search.vector import Channel
from kebab.wire.search import DegradedChannel
from kebab.wire.why import Standing

NOWHERE = Standing(rank=None, score=None, candidate=False)


class Depth:
    """Finds where passages stand in the channels of one ranking, however far down.

    A channel is asked again, for all it has, only where its list was full and a passage is not
    in it.
    """

    def __init__(self, library: LibraryReader, channel: Channel) -> None:
        self._library = library
        self._channel = channel

    def words(self, ranking: Ranking, keys: Collection[Key]) -> dict[Key, Standing]:
        """Return where passages stand by their words."""
        found = _listed(ranking.lexical, keys)
        if len(found) < len(keys) and len(ranking.lexical.ranked) >= POOL:
            all_ = lexical.search(
                self._library, ranking.question, ranking.words, self._library.chunk_count()
            )
            found = _beyond(found, all_, keys)
        return found

    def meaning(self, ranking: Ranking, keys: Collection[Key], mode: Mode) -> dict[Key, Standing]:
        """Return where passages stand by their vectors."""
        found = _listed(ranking.vector, keys)
        if len(found) < len(keys) and len(ranking.vector.ranked) >= POOL:
            count = self._library.chunk_count()
            near = self._channel.ask(ranking.question, keys, count, mode)
            if not isinstance(near, DegradedChannel):
                found = _beyond(found, near.near, keys)
        return found


def ranks(ordered: Sequence[KeyedScore], keys: Collection[Key]) -> dict[Key, Standing]:
    """Return where passages stand in an order."""
    return {
        key: Standing(rank=rank, score=score, candidate=True)
        for rank, (key, score) in enumerate(ordered, start=1)
        if key in keys
    }


def _listed(listing: Listing, keys: Collection[Key]) -> dict[Key, Standing]:
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
    deep = ranks(ordered, keys)
    return {
        key: listed.get(key) or structs.replace(one, candidate=False) for key, one in deep.items()
    }
