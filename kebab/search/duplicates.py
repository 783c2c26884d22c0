"""Finds duplicate documents and passages by MinHash signatures of their shingled text."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.progress import Progress, ProgressCallback, ProgressKind, ignore_progress
from kebab.core.queries import Filters
from kebab.errors.system import translate_import_errors
from kebab.text.language import split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.tokenizer import tokenize_unit
from kebab.wire.related import GroupUnit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signatures: TypeAlias = NDArray[np.uint32]
    Pairs: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint64]
    Indexes: TypeAlias = NDArray[np.int64]


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
    spans = [range(*bounds) for bounds in pairwise([*signed.starts, len(signed.keys)])]
    whole = ["".join(signed.texts[index] for index in span) for span in spans]
    rows = merge_signatures(signed.rows, signed.starts)
    documents = _Items("document", rows, spans, whole, signed.contents)
    alone = [range(index, index + 1) for index in range(len(signed.keys))]
    passages = _Items("passage", signed.rows, alone, signed.texts, signed.texts)
    groups: list[Group] = []
    group_of: dict[int, int] = {}
    for number, cluster in enumerate(finder.find_clusters(documents)):
        groups.append(finder.build_group(cluster, documents))
        group_of |= dict.fromkeys(cluster.items, number)
    for cluster in finder.find_clusters(passages):
        # Passages may repeat only because their documents are duplicates.
        owners = [signed.owners[item] for item in cluster.items]
        common = {group_of.get(owner) for owner in owners}
        if len(set(owners)) < len(owners) or len(common) > 1 or None in common:
            groups.append(finder.build_group(cluster, passages))
    groups.sort(key=lambda group: (group.unit, -group.similarity, -len(group.copies)))
    return DuplicateGroups(groups=groups, compared=len(signed.keys))


@dataclass(slots=True)
class SignedPassages:
    """The passages of a library with their signatures, grouped by document."""

    keys: list[Key] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """The document of each passage, by its index among the documents."""
    counts: list[int] = field(default_factory=list)
    """The number of tokens of each passage."""
    texts: list[str] = field(default_factory=list)
    """The digest of each text."""
    starts: list[int] = field(default_factory=list)
    """The first passage of each document."""
    contents: list[str] = field(default_factory=list)
    """The hash of the bytes of each document."""
    parts: "list[Signatures]" = field(default_factory=list)

    @property
    def rows(self) -> "Signatures":
        """The signature of each passage."""
        if len(self.parts) > 1:
            import numpy as np

            self.parts = [np.concatenate(self.parts)]
        return self.parts[0]


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
        # Equal items are compared once; passages that are too short repeat everywhere.
        equal: dict[str, list[int]] = defaultdict(list)
        for item, digest in enumerate(items.contents if self._exact else items.texts):
            if items.unit == "document" or self._signed.counts[item] >= MIN_TOKENS:
                equal[digest].append(item)
        copies = {group[0]: group for group in equal.values()}
        similar = [] if self._exact else list(self._cluster_similar(items, list(copies)))
        clustered = {item for one in similar for item in one.items}
        alone = [Cluster((first,), (1.0,)) for first in copies if first not in clustered]
        clusters: list[Cluster] = []
        for one in (*similar, *alone):
            scored = sorted(
                (item, score)
                for first, score in zip(one.items, one.similarity, strict=True)
                for item in copies[first]
            )
            if len(scored) > 1:
                members, similarity = zip(*scored, strict=True)
                clusters.append(Cluster(members, similarity))
        return clusters

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

    def _cluster_similar(self, items: _Items, firsts: Sequence[int]) -> Iterator[Cluster]:
        """Yield the clusters of similar items among those that differ."""

        @lru_cache(_CACHED_SETS)
        def load_shingles(index: int) -> "Hashes":
            chunks = self._library.load_chunks(self._find_keys(items, firsts[index]))
            return self._shingler.shingle_union([chunk.text for chunk in chunks])

        def measure(left: int, right: int) -> float:
            return compute_jaccard(load_shingles(left), load_shingles(right))

        pairs = find_candidate_pairs(items.rows[list(firsts)], self._threshold)
        partners = build_adjacency(map(tuple, pairs.tolist()))
        for one in cluster_by_leader(partners, measure, self._threshold):
            yield Cluster(tuple(firsts[index] for index in one.items), one.similarity)

    def _find_keys(self, items: _Items, item: int) -> tuple[Key, ...]:
        return tuple(self._signed.keys[index] for index in items.spans[item])


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


SIGNATURE_SIZE = 64
"""Values in a signature: the estimate of a similarity of .7 is off by .06 (one sigma)."""

_STEEP, _FLAT = 4, 3
_STEEP_FROM = 0.7
"""Bands of 4 find .988 of the pairs of similarity .7, bands of 3 find .94 of those of .5."""

_NEIGHBOURS = 4
"""How many next sets of a bucket each set is paired with, so that the cost stays linear."""

_SLACK = 0.15
"""How far an estimate may lie below the threshold: two and a half sigma."""

_BLOCK = 1 << 14
_SEED = 20
_LOW = 0xFFFFFFFF
_ODD = 0x9E3779B97F4A7C15


def compute_signatures(shingles: "Hashes", starts: "Indexes") -> "Signatures":
    """Return the signature of each set in a row; each set ends where the next one starts."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    factors = rng.integers(0, 1 << 31, SIGNATURE_SIZE, np.uint32) * np.uint32(2) + np.uint32(1)
    offsets = rng.integers(0, 1 << 32, SIGNATURE_SIZE, np.uint32)
    rows = np.empty((len(starts), SIGNATURE_SIZE), np.uint32)
    high = (shingles >> np.uint64(32)).astype(np.uint32)
    low = (shingles & np.uint64(_LOW)).astype(np.uint32)
    for column in range(SIGNATURE_SIZE):
        mixed = (high ^ offsets[column]) * factors[column] + low
        mixed ^= mixed >> np.uint32(15)
        mixed *= factors[column - 1]
        rows[:, column] = np.minimum.reduceat(mixed, starts)
    return rows


def merge_signatures(rows: "Signatures", starts: Sequence[int]) -> "Signatures":
    """Return the signatures of unions of consecutive sets."""
    import numpy as np

    merged: Signatures = np.minimum.reduceat(rows, starts, axis=0)
    return merged


def find_candidate_pairs(rows: "Signatures", threshold: float) -> "Pairs":
    """Return the pairs of rows that may reach a similarity, each once."""
    import numpy as np

    width = _STEEP if threshold >= _STEEP_FROM else _FLAT
    keys: list[Hashes] = []
    for start in range(0, SIGNATURE_SIZE - width + 1, width):
        band = np.zeros(len(rows), np.uint64)
        for column in rows[:, start : start + width].T:
            band = (band ^ column) * np.uint64(_ODD)
        keys.append(band)
    near = [
        pairs[estimate_similarities(rows, pairs) >= threshold - _SLACK]
        for band, key in enumerate(keys)
        for pairs in _pair_buckets(key, keys[band - 1])
    ]
    return np.unique(np.concatenate(near), axis=0)


def estimate_similarities(rows: "Signatures", pairs: "Pairs") -> "NDArray[np.float64]":
    """Return the estimated similarity of the rows of each pair."""
    import numpy as np

    found = np.empty(len(pairs), np.float64)
    for start in range(0, len(pairs), _BLOCK):
        left, right = pairs[start : start + _BLOCK].T
        found[start : start + _BLOCK] = (rows[left] == rows[right]).mean(axis=1)
    return found


def _pair_buckets(keys: "Hashes", others: "Hashes") -> "Iterator[Pairs]":
    """Yield pairs of rows with the same key, the smaller one first.

    Within a large bucket, rows that agree in another band too are paired first.
    """
    import numpy as np

    order = np.lexsort((others, keys))
    ordered = keys[order]
    for step in range(1, _NEIGHBOURS + 1):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        yield np.sort(np.stack([order[same], order[same + step]], axis=1), axis=1)


SHINGLE_WIDTH = 3
"""Tokens in a shingle: a changed word costs three, and few texts share one by chance."""

_CACHED_UNITS = 1 << 17
"""How many units are cached with the hashes of their tokens."""

_MAX_CACHED_LENGTH = 24

_ODD_MULTIPLIER = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_SHIFT = 29


class Shingler:
    """Cuts texts into shingles, as hashes that depend on the text alone."""

    def __init__(self) -> None:
        with translate_import_errors("finding duplicates", "numpy"):
            import numpy as np

        self._np = np
        self._hashes = _TokenHashes()

    def shingle_texts(self, texts: Sequence[str]) -> "tuple[Hashes, Indexes, Indexes]":
        """Return the shingles of all texts, where those of each text start, and its token count."""
        np = self._np
        # Texts are cut as `tokenize` cuts them.
        tokens = [
            [one for unit in split_units(normalize_for_index(text)) for one in self._hashes[unit]]
            for text in texts
        ]
        counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
        padded = [one + [0] * (SHINGLE_WIDTH - len(one)) for one in tokens]
        lengths = np.fromiter(map(len, padded), np.int64, len(padded))
        flat = np.fromiter(chain.from_iterable(padded), np.uint64, lengths.sum())
        ends = np.cumsum(lengths)
        whole = np.ones(max(0, len(flat) - SHINGLE_WIDTH + 1), np.bool_)
        for back in range(1, SHINGLE_WIDTH):
            whole[ends[:-1] - back] = False
        starts = np.concatenate([[0], np.cumsum(lengths - SHINGLE_WIDTH + 1)[:-1]]).astype(np.int64)
        runs = np.zeros(len(whole), np.uint64)
        for index, odd in enumerate(_ODD_MULTIPLIER):
            runs += flat[index : index + len(runs)] * np.uint64(odd)
        return (runs ^ (runs >> np.uint64(_SHIFT)))[whole], starts, counts

    def shingle_union(self, texts: Sequence[str]) -> "Hashes":
        """Return the distinct shingles of some texts together, in order."""
        found: Hashes = self._np.unique(self.shingle_texts(texts)[0])
        return found


class _TokenHashes(dict[str, tuple[int, ...]]):
    """The hashes of the tokens of each unit; short units are cached."""

    def __missing__(self, unit: str) -> tuple[int, ...]:
        hashes = tuple(map(_hash_token, tokenize_unit(unit)))
        if len(self) >= _CACHED_UNITS:
            self.clear()
        if len(unit) <= _MAX_CACHED_LENGTH:
            self[unit] = hashes
        return hashes


def compute_jaccard(left: "Hashes", right: "Hashes") -> float:
    """Return the share of common shingles among all shingles of two sets."""
    import numpy as np

    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / ((len(left) + len(right) - shared) or 1)


@lru_cache(maxsize=_CACHED_UNITS)
def _hash_token(token: str) -> int:
    raw = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "little")


MIN_TOKENS = 20
"""Shorter passages, such as a lone heading or a link, repeat everywhere."""

_BATCH = 1024
_REPORT_EVERY = 16 * _BATCH
_DIGEST = 12


def sign_passages(
    library: LibraryReader, filters: Filters, report: ProgressCallback
) -> SignedPassages:
    """Compute the signatures of the passages of all documents that pass the filters."""
    signed = SignedPassages()
    shingler = Shingler()
    total = None if filters.is_active else library.count_chunks()
    last: DocId | None = None
    chunks = library.iterate_chunk_texts(filters)
    while batch := list(islice(chunks, _BATCH)):
        for passage in batch:
            if passage.doc_id != last:
                last = passage.doc_id
                signed.starts.append(len(signed.keys))
                signed.contents.append(passage.content_hash)
            signed.keys.append(passage.key)
            signed.owners.append(len(signed.starts) - 1)
            signed.texts.append(_digest(passage.text))
        shingles, starts, counts = shingler.shingle_texts([passage.text for passage in batch])
        signed.counts.extend(counts.tolist())
        signed.parts.append(compute_signatures(shingles, starts))
        if len(signed.keys) % _REPORT_EVERY == 0:
            kind, done = ProgressKind.HEARTBEAT, len(signed.keys)
            report(Progress(kind=kind, phase="compare", done=done, total=total, unit="chunks"))
    return signed


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()
