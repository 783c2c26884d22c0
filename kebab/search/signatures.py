"""Computes MinHash signatures of shingled text, and the pairs of texts that may be similar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.progress import Progress, ProgressCallback, ProgressKind
from kebab.core.queries import Filters
from kebab.errors.system import translate_import_errors
from kebab.text.normalize import normalize_for_index
from kebab.text.scripts import split_units
from kebab.text.tokenizer import tokenize_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signatures: TypeAlias = NDArray[np.uint32]
    Pairs: TypeAlias = NDArray[np.int64]
    Hashes: TypeAlias = NDArray[np.uint64]
    Indexes: TypeAlias = NDArray[np.int64]

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
    keys = [
        _hash_band(rows[:, start : start + width])
        for start in range(0, SIGNATURE_SIZE - width + 1, width)
    ]
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


def _hash_band(band: "Signatures") -> "Hashes":
    """Return a hash of the band of each row."""
    import numpy as np

    keys = np.zeros(len(band), np.uint64)
    for column in band.T:
        keys = (keys ^ column) * np.uint64(_ODD)
    return keys


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
        tokens = [self._hash_tokens(text) for text in texts]
        counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
        padded = [one + [0] * (SHINGLE_WIDTH - len(one)) for one in tokens]
        lengths = np.fromiter(map(len, padded), np.int64, len(padded))
        flat = np.fromiter(chain.from_iterable(padded), np.uint64, lengths.sum())
        ends = np.cumsum(lengths)
        whole = np.ones(max(0, len(flat) - SHINGLE_WIDTH + 1), np.bool_)
        for back in range(1, SHINGLE_WIDTH):
            whole[ends[:-1] - back] = False
        starts = np.concatenate([[0], np.cumsum(lengths - SHINGLE_WIDTH + 1)[:-1]]).astype(np.int64)
        return self._hash_runs(flat)[whole], starts, counts

    def shingle_union(self, texts: Sequence[str]) -> "Hashes":
        """Return the distinct shingles of some texts together, in order."""
        found: Hashes = self._np.unique(self.shingle_texts(texts)[0])
        return found

    def _hash_runs(self, flat: "Hashes") -> "Hashes":
        """Return a hash of each run of tokens."""
        np = self._np
        last = len(flat) - SHINGLE_WIDTH + 1
        runs = np.zeros(max(0, last), np.uint64)
        for index, odd in enumerate(_ODD_MULTIPLIER):
            runs += flat[index : index + len(runs)] * np.uint64(odd)
        mixed: Hashes = runs ^ (runs >> np.uint64(_SHIFT))
        return mixed

    def _hash_tokens(self, text: str) -> list[int]:
        """Return the hashes of the tokens of a text, cut as `tokenize` cuts them."""
        found: list[int] = []
        for unit in split_units(normalize_for_index(text)):
            found += self._hashes[unit]
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
