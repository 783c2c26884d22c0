"""Finds duplicate documents and passages: candidates by MinHash signatures, then exactly.

A text is a set of shingles: runs of three tokens. Two texts are as similar as the Jaccard index of
their sets.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kebab.core.chunks import Key, PassageHashes
from kebab.core.progress import Progress, ProgressCallback, ProgressKind, ignore_progress
from kebab.core.queries import Filters
from kebab.errors.system import translate_import_errors
from kebab.text.language import split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.tokenizer import tokenize_unit
from kebab.wire.library import GroupUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab.store.sqlite.reader import SqliteReader

    Hashes: TypeAlias = NDArray[np.uint64]
    Signature: TypeAlias = NDArray[np.uint32]


class Item(NamedTuple):
    """A document or a passage to compare.

    `name` equals for items of one text, and `content` for identical ones: it is the hash of the
    bytes of a document, or of the text.
    """

    name: tuple[str, ...]
    content: str
    keys: tuple[Key, ...]
    signature: "Signature"


class Group(NamedTuple):
    """Copies of one text, the leader first, and the similarity of each to the leader."""

    unit: GroupUnit
    items: Sequence[Item]
    similarities: Sequence[float]

    def is_equal(self, number: int) -> bool:
        """Return whether a copy equals the first one."""
        return self.items[number].content == self.items[0].content

    @property
    def exact(self) -> bool:
        """Whether all copies are equal."""
        return all(map(self.is_equal, range(len(self.items))))

    @property
    def similarity(self) -> float:
        """The lowest similarity of a copy to the first one."""
        return min(self.similarities)


MIN_TOKENS = 20
"""Shorter passages, such as a lone heading or a link, repeat everywhere."""


def find_duplicates(
    library: "SqliteReader",
    threshold: float,
    filters: Filters,
    *,
    exact: bool = False,
    report: ProgressCallback = ignore_progress,
) -> tuple[list[Group], int]:
    """Return the groups of duplicate documents, and of passages that those do not explain.

    The second value is the number of compared passages. With `exact` only identical texts count.
    """
    found = library.list_passages(filters)
    if not found.keys:
        return [], 0
    comparer = _Comparer(library, found, report)
    owners_of = enumerate(pairwise(found.documents), 1)
    changes = [place for place, (one, other) in owners_of if one != other]
    starts = list(map(range, [0, *changes], [*changes, len(found.documents)]))
    owners = [number for number, places in enumerate(starts) for _ in places]
    own = set(select_own(found))
    documents = [
        comparer.build_item([place for place in places if place in own], found.contents[places[0]])
        for places in starts
    ]
    groups: list[Group] = []
    group_of: dict[int, int] = {}
    clusters = _find_clusters(documents, range(len(documents)), threshold, comparer, exact=exact)
    for number, cluster in enumerate(clusters):
        groups.append(_build_group("document", documents, cluster))
        group_of |= dict.fromkeys(cluster, number)
    passages = [
        comparer.build_item([place], text_hash) for place, text_hash in enumerate(found.hashes)
    ]
    long = [place for place, text in enumerate(found.hashes) if comparer.counts[text] >= MIN_TOKENS]
    for cluster in _find_clusters(passages, long, threshold, comparer, exact=exact):
        # Passages may repeat only because their documents are duplicates.
        holders = [owners[place] for place in cluster]
        common = {group_of.get(holder) for holder in holders}
        if len(set(holders)) < len(holders) or len(common) > 1 or None in common:
            groups.append(_build_group("passage", passages, cluster))
    groups.sort(key=lambda group: (group.unit, -group.similarity, -len(group.items)))
    return groups, len(found.keys)


def _build_group(unit: GroupUnit, items: Sequence[Item], cluster: Mapping[int, float]) -> Group:
    return Group(unit, [items[place] for place in cluster], [*cluster.values()])


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


_BATCH = 1024
_REPORT_EVERY = 256
_CACHED_SETS = 4096
"""How many sets of shingles are cached."""


class _Comparer:
    """The signatures of the passages of a library, and exact similarities of items."""

    def __init__(
        self, library: "SqliteReader", found: PassageHashes, report: ProgressCallback
    ) -> None:
        with translate_import_errors("finding duplicates", "numpy"):
            import numpy  # noqa: F401, ICN001 - loaded here, so that its absence is an error

        self._library = library
        self._found = found
        self._report = report
        self._compared = 0
        self._load_set = lru_cache(_CACHED_SETS)(self._compute_set)
        self._signatures: dict[str, Signature] = {}
        self.counts: dict[str, int] = {}
        """The number of tokens of each text, by its hash."""
        distinct = list(dict(zip(found.hashes, found.keys, strict=True)).items())
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            texts = library.load_texts([key for _, key in batch])
            for text_hash, key in batch:
                codes = _hash_tokens(texts[key])
                self.counts[text_hash] = len(codes)
                self._signatures[text_hash] = compute_signature(_shingle(codes))
            self._report_step("sign", start + len(batch), len(distinct), "chunks")

    def build_item(self, places: Sequence[int], content: str) -> Item:
        """Return the item of some passages; its signature is that of their union."""
        import numpy as np

        name = tuple(self._found.hashes[place] for place in places)
        keys = tuple(self._found.keys[place] for place in places)
        rows = [self._signatures[text_hash] for text_hash in name]
        return Item(name, content, keys, np.minimum.reduce(rows) if rows[1:] else rows[0])

    def measure(self, left: Item, right: Item) -> float:
        """Return the exact similarity of two items: the share of their shingles in common."""
        import numpy as np

        self._compared += 1
        if self._compared % _REPORT_EVERY == 0:
            self._report_step("compare", self._compared, None, "pairs")
        one, other = self._load_set(left.keys), self._load_set(right.keys)
        shared = len(np.intersect1d(one, other, assume_unique=True))
        return shared / ((len(one) + len(other) - shared) or 1)

    def _compute_set(self, keys: tuple[Key, ...]) -> "Hashes":
        import numpy as np

        texts = self._library.load_texts(keys)
        return np.unique(np.concatenate([_shingle(_hash_tokens(texts[key])) for key in keys]))

    def _report_step(self, phase: str, done: int, total: int | None, unit: str) -> None:
        kind = ProgressKind.HEARTBEAT
        self._report(Progress(kind=kind, phase=phase, done=done, total=total, unit=unit))


def _find_clusters(
    items: Sequence[Item],
    compared: Sequence[int],
    threshold: float,
    comparer: _Comparer,
    *,
    exact: bool,
) -> Iterator[dict[int, float]]:
    """Yield the clusters of duplicate items, with the similarity of each to the first one."""
    equal: defaultdict[str | tuple[str, ...], list[int]] = defaultdict(list)
    for place in compared:
        equal[items[place].content if exact else items[place].name].append(place)
    # Equal items are compared once.
    copies = {places[0]: places for places in equal.values()}
    if not exact:
        firsts = list(copies)
        partners = find_candidates([items[first].signature for first in firsts], threshold)

        def measure(left: int, right: int) -> float:
            return comparer.measure(items[firsts[left]], items[firsts[right]])

        for cluster in cluster_by_leader(partners, measure, threshold):
            yield dict(
                sorted(
                    (place, score)
                    for one, score in cluster.items()
                    for place in copies.pop(firsts[one])
                )
            )
    for places in copies.values():
        if len(places) > 1:
            yield dict.fromkeys(places, 1.0)


def cluster_by_leader(
    partners: Mapping[int, Sequence[int]], measure: Callable[[int, int], float], threshold: float
) -> Iterator[dict[int, float]]:
    """Yield clusters: the first item leads the items that are similar to it, and so on.

    A leader is compared with its partners and with those of its members. A chain of items, each
    similar to the next one only, is split. Every pair is compared at most once.
    """
    taken: set[int] = set()
    for leader in sorted(partners):
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
            yield {leader: 1.0, **dict(sorted(members.items()))}


_BAND = 3
"""Bands of 3 values find .9998 of the pairs of similarity .7, and .94 of those of .5."""

_NEIGHBOURS = 4
"""How many next items of a bucket each item is paired with, so that the cost stays linear."""

_SLACK = 0.15
"""How far an estimate may lie below the threshold: two and a half sigma."""


def find_candidates(rows: Sequence["Signature"], threshold: float) -> dict[int, list[int]]:
    """Return for each row the others that may reach a similarity with it."""
    pairs: set[tuple[int, int]] = set()
    for start in range(0, SIGNATURE_SIZE - _BAND + 1, _BAND):
        buckets: defaultdict[bytes, list[int]] = defaultdict(list)
        for place, row in enumerate(rows):
            buckets[row[start : start + _BAND].tobytes()].append(place)
        for bucket in buckets.values():
            for first in range(len(bucket) - 1):
                near = bucket[first + 1 : first + 1 + _NEIGHBOURS]
                pairs.update((bucket[first], other) for other in near)
    partners: defaultdict[int, list[int]] = defaultdict(list)
    for left, right in sorted(pairs):
        if (rows[left] == rows[right]).mean() >= threshold - _SLACK:
            partners[left].append(right)
            partners[right].append(left)
    return partners


SIGNATURE_SIZE = 64
"""Values in a signature: the estimate of a similarity of .7 is off by .06 (one sigma)."""


@lru_cache(maxsize=1)
def _draw_factors() -> "Hashes":
    """Return an odd factor for each value of a signature."""
    import numpy as np

    rng = np.random.default_rng(20)
    return rng.integers(0, 1 << 63, SIGNATURE_SIZE, np.uint64) * np.uint64(2) + np.uint64(1)


def compute_signature(shingles: "Hashes") -> "Signature":
    """Return the signature of a set: for each hash function the least value of its shingles."""
    import numpy as np

    mixed = shingles[:, None] * _draw_factors()[None, :]
    least: Signature = (mixed >> np.uint64(32)).astype(np.uint32).min(axis=0)
    return least


SHINGLE_WIDTH = 3
"""Tokens in a shingle: a changed word costs three, and few texts share one by chance."""

_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


def _shingle(codes: "Hashes") -> "Hashes":
    """Return the hashes of the runs of three tokens; a shorter text is filled up."""
    import numpy as np

    padded = np.concatenate([codes, np.zeros(max(0, SHINGLE_WIDTH - len(codes)), np.uint64)])
    count = len(padded) - SHINGLE_WIDTH + 1
    runs = np.zeros(count, np.uint64)
    for index, odd in enumerate(_ODD):
        runs += padded[index : index + count] * np.uint64(odd)
    return runs ^ (runs >> np.uint64(29))


def _hash_tokens(text: str) -> "Hashes":
    """Return the hashes of the tokens of a text, which depend on the text alone."""
    import numpy as np

    units = split_units(normalize_for_index(text))
    return np.array([code for unit in units for code in _hash_unit(unit)], np.uint64)


@lru_cache(maxsize=1 << 16)
def _hash_unit(unit: str) -> tuple[int, ...]:
    raw = (token.encode("utf-8", "surrogatepass") for token in tokenize_unit(unit))
    return tuple(int.from_bytes(blake2b(one, digest_size=8).digest(), "little") for one in raw)
