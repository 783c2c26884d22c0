"""Finds duplicate documents and passages: candidates by MinHash signatures, then exactly."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kebab.core.chunks import PassageHashes
from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.progress import ProgressCallback, ignore_progress
from kebab.core.queries import Filters
from kebab.search.signatures import SIGNATURE_SIZE, SignatureIndex, Text, name_text
from kebab.wire.related import GroupUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.search.signatures import Hashes, Indexes, Signatures

    Pairs: TypeAlias = NDArray[np.int64]


class Cluster(NamedTuple):
    """Items by index, the leader first, and the similarity of each to the leader."""

    items: tuple[int, ...]
    similarity: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Documents or passages to compare."""

    unit: GroupUnit
    rows: "Signatures"
    names: Sequence[str]
    """The name of each text."""
    contents: Sequence[str]
    """What equals for identical items: the hash of the bytes of a document, or of the text."""
    compared: Sequence[int]
    """The items that are long enough to be compared."""
    keys: Sequence[Key]
    """The keys of all passages."""
    starts: Sequence[int]
    """The first passage of each item, and the end of the last item."""

    def get_text(self, item: int) -> Text:
        """Return the text of an item."""
        return Text(self.names[item], tuple(self.keys[self.starts[item] : self.starts[item + 1]]))


@dataclass(frozen=True)
class Group:
    """Copies of one text."""

    items: Items
    cluster: Cluster

    @cached_property
    def texts(self) -> list[Text]:
        """The text of each copy, the leader first."""
        return [self.items.get_text(item) for item in self.cluster.items]

    def is_equal(self, number: int) -> bool:
        """Return whether a copy equals the first one."""
        contents, members = self.items.contents, self.cluster.items
        return contents[members[number]] == contents[members[0]]

    @property
    def exact(self) -> bool:
        """Whether all copies are equal."""
        return all(map(self.is_equal, range(len(self.cluster.items))))

    @property
    def similarity(self) -> float:
        """The lowest similarity of a copy to the first one."""
        return min(self.cluster.similarity)


class DuplicateGroups(NamedTuple):
    """All groups in order, and the number of passages that were compared."""

    groups: list[Group]
    compared: int


MIN_TOKENS = 20
"""Shorter passages, such as a lone heading or a link, repeat everywhere."""


def find_duplicates(
    library: LibraryReader,
    threshold: float,
    filters: Filters,
    *,
    exact: bool = False,
    report: ProgressCallback = ignore_progress,
) -> DuplicateGroups:
    """Return the groups of duplicate documents, and of passages that those do not explain.

    With `exact` only identical documents and passages count.
    """
    found = library.list_passages(filters)
    if not found.keys:
        return DuplicateGroups(groups=[], compared=0)
    index = SignatureIndex(library, report)
    documents, passages = _build_items(index, found)
    numbers = {owner: number for number, owner in enumerate(dict.fromkeys(found.documents))}
    owners = [numbers[owner] for owner in found.documents]
    groups: list[Group] = []
    group_of: dict[int, int] = {}
    for number, cluster in enumerate(_find_clusters(index, documents, threshold, exact=exact)):
        groups.append(Group(documents, cluster))
        group_of |= dict.fromkeys(cluster.items, number)
    for cluster in _find_clusters(index, passages, threshold, exact=exact):
        # Passages may repeat only because their documents are duplicates.
        holders = [owners[item] for item in cluster.items]
        common = {group_of.get(holder) for holder in holders}
        if len(set(holders)) < len(holders) or len(common) > 1 or None in common:
            groups.append(Group(passages, cluster))
    groups.sort(key=lambda group: (group.items.unit, -group.similarity, -len(group.cluster.items)))
    return DuplicateGroups(groups=groups, compared=len(found.keys))


_MANY = 8
"""A passage of more documents, such as a section of a template, is no sign of a copy."""


def select_own(found: PassageHashes) -> list[int]:
    """Return the places of the passages that few documents share, and all of those without any."""
    holders = Counter(text for _, text in set(zip(found.documents, found.hashes, strict=True)))
    few = [holders[text] <= _MANY for text in found.hashes]
    with_own = {owner for owner, is_own in zip(found.documents, few, strict=True) if is_own}
    return [
        place for place, owner in enumerate(found.documents) if few[place] or owner not in with_own
    ]


def _build_items(index: SignatureIndex, found: PassageHashes) -> tuple[Items, Items]:
    """Return the documents, by their own passages, and the passages."""
    import numpy as np

    rows, counts = index.sign_passages(found.keys, found.hashes)
    own = select_own(found)
    hashes = [found.hashes[place] for place in own]
    owners = [found.documents[place] for place in own]
    starts = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
    ends = [*starts, len(own)]
    documents = Items(
        unit="document",
        rows=np.minimum.reduceat(rows[own], starts, axis=0),  # those of the unions
        names=[name_text(hashes[start:end]) for start, end in pairwise(ends)],
        contents=[found.contents[own[start]] for start in starts],
        compared=range(len(starts)),
        keys=[found.keys[place] for place in own],
        starts=ends,
    )
    passages = Items(
        unit="passage",
        rows=rows,
        names=found.hashes,
        contents=found.hashes,
        compared=np.flatnonzero(counts >= MIN_TOKENS).tolist(),
        keys=found.keys,
        starts=range(len(found.keys) + 1),
    )
    return documents, passages


def _find_clusters(
    index: SignatureIndex, items: Items, threshold: float, *, exact: bool
) -> Iterator[Cluster]:
    """Yield the clusters of duplicate items."""
    equal: dict[str, list[int]] = defaultdict(list)
    digests = items.contents if exact else items.names
    for item in items.compared:
        equal[digests[item]].append(item)
    # Equal items are compared once.
    copies = {group[0]: group for group in equal.values()}
    if not exact:
        firsts = list(copies)
        pairs = find_candidate_pairs(items.rows[firsts], threshold)

        def measure(left: int, right: int) -> float:
            return index.measure(items.get_text(firsts[left]), items.get_text(firsts[right]))

        partners = build_adjacency(map(tuple, pairs.tolist()))
        for one in cluster_by_leader(partners, measure, threshold):
            scored = sorted(
                (item, score)
                for place, score in zip(one.items, one.similarity, strict=True)
                for item in copies.pop(firsts[place])
            )
            members, similarity = zip(*scored, strict=True)
            yield Cluster(members, similarity)
    for group in copies.values():
        if len(group) > 1:
            yield Cluster(tuple(group), (1.0,) * len(group))


def build_adjacency(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the partners of each item, items in rising order."""
    partners: dict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        partners[left].append(right)
        partners[right].append(left)
    return dict(sorted(partners.items()))


def cluster_by_leader(
    partners: Mapping[int, Sequence[int]], measure: Callable[[int, int], float], threshold: float
) -> Iterator[Cluster]:
    """Yield clusters: the first item leads the items that are similar to it, and so on.

    A leader is compared with its partners and with those of its members. A chain of items, each
    similar to the next one only, is split. Every pair is compared at most once.
    """
    taken: set[int] = set()
    for leader in partners:
        if leader in taken:
            continue
        members: dict[int, float] = {}
        seen, pending = {leader}, [leader]
        while pending:
            new = [one for one in partners[pending.pop()] if one not in seen and one not in taken]
            seen.update(new)
            similar = {one: score for one in new if (score := measure(leader, one)) >= threshold}
            members |= similar
            pending += similar
        taken |= {leader, *members}
        if members:
            items = sorted(members)
            yield Cluster((leader, *items), (1.0, *(members[item] for item in items)))


_STEEP, _FLAT = 4, 3
_STEEP_FROM = 0.7
"""Bands of 4 find .988 of the pairs of similarity .7, bands of 3 find .94 of those of .5."""

_NEIGHBOURS = 4
"""How many next sets of a bucket each set is paired with, so that the cost stays linear."""

_SLACK = 0.15
"""How far an estimate may lie below the threshold: two and a half sigma."""

_BLOCK = 1 << 14
_ODD = 0x9E3779B97F4A7C15


def find_candidate_pairs(rows: "Signatures", threshold: float) -> "Pairs":
    """Return the pairs of rows that may reach a similarity, each once."""
    import numpy as np

    width = _STEEP if threshold >= _STEEP_FROM else _FLAT
    bands: list[Hashes] = []
    for start in range(0, SIGNATURE_SIZE - width + 1, width):
        band = np.zeros(len(rows), np.uint64)
        for column in rows[:, start : start + width].T:
            band = (band ^ column) * np.uint64(_ODD)
        bands.append(band)
    # A pair is one number, because sorting numbers is fast.
    numbers = [_pair_buckets(band, bands[number - 1]) for number, band in enumerate(bands)]
    pairs = np.stack(np.divmod(np.unique(np.concatenate(numbers)), max(1, len(rows))), axis=1)
    return pairs[estimate_similarities(rows, pairs) >= threshold - _SLACK]


def estimate_similarities(rows: "Signatures", pairs: "Pairs") -> "NDArray[np.float64]":
    """Return the estimated similarity of the rows of each pair."""
    import numpy as np

    found = np.empty(len(pairs), np.float64)
    for start in range(0, len(pairs), _BLOCK):
        left, right = pairs[start : start + _BLOCK].T
        found[start : start + _BLOCK] = (rows[left] == rows[right]).mean(axis=1)
    return found


def _pair_buckets(keys: "Hashes", others: "Hashes") -> "Indexes":
    """Return pairs of rows with the same key, each as smaller row * number of rows + larger row.

    Within a large bucket, rows that agree in another band too are paired first.
    """
    import numpy as np

    # Most keys occur once: only rows that share the low bits of theirs have to be sorted.
    low = keys & np.uint64((1 << max(1, len(keys)).bit_length() + 2) - 1)
    shared = np.flatnonzero(np.bincount(low.astype(np.int64))[low.astype(np.int64)] > 1)
    order = shared[np.lexsort((others[shared], keys[shared]))]
    ordered = keys[order]
    found = [np.empty(0, np.int64)]
    for step in range(1, _NEIGHBOURS + 1):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        left, right = order[same], order[same + step]
        found.append(np.minimum(left, right) * len(keys) + np.maximum(left, right))
    return np.concatenate(found)
