"""Finds duplicate documents and passages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.progress import ProgressCallback, ignore_progress
from kebab.core.queries import Filters
from kebab.search import signatures
from kebab.search.signatures import (
    MIN_TOKENS,
    Shingler,
    SignedPassages,
    compute_jaccard,
    sign_passages,
)
from kebab.wire.related import GroupUnit

if TYPE_CHECKING:
    from kebab.search.signatures import Hashes, Signatures

_CACHED_SETS = 4096
"""How many sets of shingles are cached."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Items by index, the leader first, and the similarity of each to the leader."""

    items: tuple[int, ...]
    similarity: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One member of a group: its chunks, and its similarity to the first member."""

    keys: tuple[Key, ...]
    similarity: float
    exact: bool
    """Whether it equals the first member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Copies of one text, the leader first."""

    unit: GroupUnit
    copies: tuple[Copy, ...]

    @property
    def exact(self) -> bool:
        """Whether all copies are equal."""
        return all(copy.exact for copy in self.copies)

    @property
    def similarity(self) -> float:
        """The lowest similarity of a copy to the first one."""
        return min(copy.similarity for copy in self.copies)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateGroups:
    """All groups in order, and the number of passages that were compared."""

    groups: list[Group]
    compared: int


@dataclass(frozen=True, slots=True)
class _Items:
    """Documents or passages to compare."""

    unit: GroupUnit
    rows: "Signatures"
    spans: Sequence[range]
    """The passages of each item."""
    texts: Sequence[str]
    """The digest of the text of each item."""
    contents: Sequence[str]
    """The digest of the bytes of each item."""


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
    signed = sign_passages(library, filters, report)
    if not signed.keys:
        return DuplicateGroups(groups=[], compared=0)
    finder = _Finder(library, signed, threshold, exact=exact)
    documents, passages = _list_documents(signed), _list_passages(signed)
    clusters = finder.find_clusters(documents)
    group_of = {
        document: number for number, cluster in enumerate(clusters) for document in cluster.items
    }
    groups = [finder.build_group(cluster, documents) for cluster in clusters]
    groups += [
        finder.build_group(cluster, passages)
        for cluster in finder.find_clusters(passages)
        if not _is_explained(cluster, signed.owners, group_of)
    ]
    groups.sort(key=lambda group: (group.unit, -group.similarity, -len(group.copies)))
    return DuplicateGroups(groups=groups, compared=len(signed.keys))


def _list_documents(signed: SignedPassages) -> _Items:
    spans = [range(*bounds) for bounds in pairwise([*signed.starts, len(signed.keys)])]
    rows = signatures.merge_signatures(signed.rows, signed.starts)
    texts = ["".join(signed.texts[index] for index in span) for span in spans]
    return _Items("document", rows, spans, texts, signed.contents)


def _list_passages(signed: SignedPassages) -> _Items:
    spans = [range(index, index + 1) for index in range(len(signed.keys))]
    return _Items("passage", signed.rows, spans, signed.texts, signed.texts)


def _is_explained(cluster: Cluster, owners: Sequence[int], group_of: dict[int, int]) -> bool:
    """Return whether passages repeat only because their documents are duplicates."""
    documents = [owners[item] for item in cluster.items]
    groups = {group_of.get(document) for document in documents}
    return len(set(documents)) == len(documents) and len(groups) == 1 and None not in groups


class _Finder:
    """Finds the duplicates of one library."""

    def __init__(
        self, library: LibraryReader, signed: SignedPassages, threshold: float, *, exact: bool
    ) -> None:
        self._library = library
        self._signed = signed
        self._threshold = threshold
        self._exact = exact
        self._shingler = Shingler()

    def find_clusters(self, items: _Items) -> list[Cluster]:
        """Return the clusters of duplicate items."""
        copies = self._find_equal(items)
        similar = [] if self._exact else list(self._cluster_similar(items, list(copies)))
        clustered = {item for one in similar for item in one.items}
        alone = [Cluster((first,), (1.0,)) for first in copies if first not in clustered]
        clusters = (_add_copies(one, copies) for one in (*similar, *alone))
        return [cluster for cluster in clusters if len(cluster.items) > 1]

    def build_group(self, cluster: Cluster, items: _Items) -> Group:
        """Return the group of a cluster, with the chunks of its members."""
        first = items.contents[cluster.items[0]]
        copies = tuple(
            Copy(
                keys=self._find_keys(items, item),
                similarity=score,
                exact=items.contents[item] == first,
            )
            for item, score in zip(cluster.items, cluster.similarity, strict=True)
        )
        return Group(unit=items.unit, copies=copies)

    def _find_equal(self, items: _Items) -> dict[int, list[int]]:
        """Return the equal items by the first of them, without passages that are too short."""
        equal: dict[str, list[int]] = defaultdict(list)
        for item, digest in enumerate(items.contents if self._exact else items.texts):
            if items.unit == "document" or self._signed.counts[item] >= MIN_TOKENS:
                equal[digest].append(item)
        return {group[0]: group for group in equal.values()}

    def _cluster_similar(self, items: _Items, firsts: Sequence[int]) -> Iterator[Cluster]:
        """Yield the clusters of similar items among those that differ."""

        @lru_cache(_CACHED_SETS)
        def load_shingles(index: int) -> "Hashes":
            chunks = self._library.load_chunks(self._find_keys(items, firsts[index]))
            return self._shingler.shingle_union([chunk.text for chunk in chunks])

        def measure(left: int, right: int) -> float:
            return compute_jaccard(load_shingles(left), load_shingles(right))

        pairs = signatures.find_candidate_pairs(items.rows[list(firsts)], self._threshold)
        partners = build_adjacency(map(tuple, pairs.tolist()))
        for one in cluster_by_leader(partners, measure, self._threshold):
            yield Cluster(tuple(firsts[index] for index in one.items), one.similarity)

    def _find_keys(self, items: _Items, item: int) -> tuple[Key, ...]:
        return tuple(self._signed.keys[index] for index in items.spans[item])


def _add_copies(cluster: Cluster, copies: dict[int, list[int]]) -> Cluster:
    """Return a cluster with every item that equals one of it, in order after the leader."""
    scored = sorted(
        (item, score)
        for first, score in zip(cluster.items, cluster.similarity, strict=True)
        for item in copies[first]
    )
    items, similarity = zip(*scored, strict=True)
    return Cluster(items, similarity)


def build_adjacency(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the partners of each item, items in rising order."""
    partners: dict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        partners[left].append(right)
        partners[right].append(left)
    return dict(sorted(partners.items()))


def cluster_by_leader(
    partners: Mapping[int, Sequence[int]],
    measure: Callable[[int, int], float],
    threshold: float,
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
