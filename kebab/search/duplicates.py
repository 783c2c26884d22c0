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
    import numpy as np
    from numpy.typing import NDArray

    from kebab.search.signatures import Hashes, Signatures


@dataclass(frozen=True, slots=True)
class Cluster:
    """Items by index, the first one leads; `likeness` is that of each to the first."""

    items: tuple[int, ...]
    similarity: tuple[float, ...]


def build_adjacency(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the partners of each item, items in rising order."""
    found: dict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        found[left].append(right)
        found[right].append(left)
    return dict(sorted(found.items()))


def cluster_by_leader(
    partners: Mapping[int, Sequence[int]],
    likeness: Callable[[int, int], float],
    threshold: float,
) -> Iterator[Cluster]:
    """Yield the clusters: the first item leads those that are like it, and so on.

    A leader is held against its partners and those of its members. A chain in which each is like
    the next falls apart here, for its ends have nothing in common. Every pair is looked at once at
    most, so a crowd that is alike by half costs no more than its pairs.
    """
    taken: set[int] = set()
    for first in partners:
        if first in taken:
            continue
        taken.add(first)
        near = _members(first, partners, likeness, threshold, taken)
        taken |= near.keys()
        if near:
            items = sorted(near)
            yield Cluster((first, *items), (1.0, *(near[item] for item in items)))


def _members(
    first: int,
    partners: Mapping[int, Sequence[int]],
    likeness: Callable[[int, int], float],
    threshold: float,
    taken: set[int],
) -> dict[int, float]:
    """Return the items that a leader gathers, with their likeness."""
    near: dict[int, float] = {}
    seen, waiting = {first}, [first]
    while waiting:
        for item in partners[waiting.pop()]:
            if item in seen or item in taken:
                continue
            seen.add(item)
            score = likeness(first, item)
            if score >= threshold:
                near[item] = score
                waiting.append(item)
    return near


_KEPT = 4096
"""The most sets of shingles that are held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One of a group: its chunks, how like it is to the first, and whether it equals it."""

    keys: tuple[Key, ...]
    similarity: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Copies of one text, the first of them leads."""

    unit: GroupUnit
    copies: tuple[Copy, ...]

    @property
    def exact(self) -> bool:
        """Whether all are the same."""
        return all(copy.exact for copy in self.copies)

    @property
    def similarity(self) -> float:
        """How like the least like one is to the first."""
        return min(copy.similarity for copy in self.copies)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateGroups:
    """All groups in order, and how many passages were compared."""

    groups: list[Group]
    compared: int


@dataclass(frozen=True, slots=True)
class _Kind:
    """Documents or passages to be compared: their chunks, and by what each is compared."""

    unit: GroupUnit
    rows: "Signatures | NDArray[np.uint32]"
    items: Sequence[range]
    texts: Sequence[str]
    """Equal where the texts are equal."""
    bytes: Sequence[str]
    """Equal where nothing differs at all."""


def find_duplicates(
    library: LibraryReader,
    threshold: float,
    filters: Filters,
    *,
    exact: bool = False,
    report: ProgressCallback = ignore_progress,
) -> DuplicateGroups:
    """Return the groups of copies: documents, then passages that those do not explain.

    With `exact` only what does not differ at all counts.
    """
    found = sign_passages(library, filters, report)
    if not found.keys:
        return DuplicateGroups(groups=[], compared=0)
    finder = _Finder(library, found, threshold, exact=exact)
    documents, passages = _documents(found), _passages(found)
    whole = finder.groups(documents)
    home = {place: number for number, one in enumerate(whole) for place in one.items}
    parts = [one for one in finder.groups(passages) if not _explained(one, found.owners, home)]
    groups = [finder.group(one, documents) for one in whole]
    groups += [finder.group(one, passages) for one in parts]
    return DuplicateGroups(groups=_ranked(groups), compared=len(found.keys))


def _documents(found: SignedPassages) -> _Kind:
    bounds = [*found.begins, len(found.keys)]
    spans = [range(start, end) for start, end in pairwise(bounds)]
    rows = signatures.merge_signatures(found.rows, found.starts())
    texts = ["".join(found.texts[place] for place in span) for span in spans]
    return _Kind("document", rows, spans, texts, found.contents)


def _passages(found: SignedPassages) -> _Kind:
    spans = [range(place, place + 1) for place in range(len(found.keys))]
    return _Kind("passage", found.rows, spans, found.texts, found.texts)


class _Finder:
    """Finds the groups of one knowledge base."""

    def __init__(
        self, library: LibraryReader, found: SignedPassages, threshold: float, *, exact: bool
    ) -> None:
        self._library = library
        self._found = found
        self._threshold = threshold
        self._exact = exact
        self._shingler = Shingler()

    def groups(self, kind: _Kind) -> list[Cluster]:
        """Return the groups among documents or passages, items by their place."""
        equal = self._equal(kind)
        firsts = [items[0] for items in equal.values()]
        copies = {items[0]: items for items in equal.values()}
        near = [] if self._exact else list(self._near(kind, firsts))
        taken = {item for one in near for item in one.items}
        alone = [Cluster((first,), (1.0,)) for first in firsts if first not in taken]
        spread = (_spread(one, copies) for one in (*near, *alone))
        return [one for one in spread if len(one.items) > 1]

    def group(self, cluster: Cluster, kind: _Kind) -> Group:
        """Return a group with the chunks of its members."""
        first = kind.bytes[cluster.items[0]]
        copies = tuple(
            Copy(keys=self._keys(kind, item), similarity=score, exact=kind.bytes[item] == first)
            for item, score in zip(cluster.items, cluster.similarity, strict=True)
        )
        return Group(unit=kind.unit, copies=copies)

    def _equal(self, kind: _Kind) -> dict[str, list[int]]:
        """Return the items by what makes them equal; of those that are too short only documents."""
        same = kind.bytes if self._exact else kind.texts
        equal: dict[str, list[int]] = defaultdict(list)
        for item, label in enumerate(same):
            if kind.unit == "document" or self._found.counts[item] >= MIN_TOKENS:
                equal[label].append(item)
        return equal

    def _near(self, kind: _Kind, firsts: Sequence[int]) -> Iterator[Cluster]:
        """Yield the groups of items that are like their first one."""
        pairs = signatures.find_candidate_pairs(kind.rows[list(firsts)], self._threshold)
        judge = _Judge(lambda item: self._shingles(kind, firsts[item]))
        partners = build_adjacency(map(tuple, pairs.tolist()))
        for one in cluster_by_leader(partners, judge.similarity, self._threshold):
            yield Cluster(tuple(firsts[item] for item in one.items), one.similarity)

    def _shingles(self, kind: _Kind, item: int) -> "Hashes":
        chunks = self._library.load_chunks(self._keys(kind, item))
        return self._shingler.of([chunk.text for chunk in chunks])

    def _keys(self, kind: _Kind, item: int) -> tuple[Key, ...]:
        return tuple(self._found.keys[place] for place in kind.items[item])


class _Judge:
    """Measures likeness; the sets of the last items that were read are kept."""

    def __init__(self, read: "Callable[[int], Hashes]") -> None:
        self._set = lru_cache(_KEPT)(read)

    def similarity(self, first: int, item: int) -> float:
        """Return how like two items are."""
        return compute_jaccard(self._set(first), self._set(item))


def _spread(cluster: Cluster, copies: dict[int, list[int]]) -> Cluster:
    """Return a cluster with every item that equals one of it, in order after the first."""
    scored = sorted(
        (item, score)
        for first, score in zip(cluster.items, cluster.similarity, strict=True)
        for item in copies[first]
    )
    items, likeness = zip(*scored, strict=True)
    return Cluster(items, likeness)


def _explained(one: Cluster, owners: Sequence[int], home: dict[int, int]) -> bool:
    """Return whether passages repeat only because their documents are copies of each other."""
    documents = [owners[item] for item in one.items]
    groups = {home.get(document) for document in documents}
    return len(set(documents)) == len(documents) and len(groups) == 1 and None not in groups


def _ranked(groups: list[Group]) -> list[Group]:
    """Return documents before passages, the most alike first, larger groups before smaller."""
    return sorted(groups, key=lambda one: (one.unit, -one.similarity, -len(one.copies)))
