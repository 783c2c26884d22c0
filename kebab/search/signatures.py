"""Computes MinHash signatures of shingled text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import ChunkText
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

if TYPE_CHECKING:
    Signatures: TypeAlias = NDArray[np.uint32]
    Pairs: TypeAlias = NDArray[np.int64]

SIGNATURE_SIZE = 64
"""Places in a signature: the estimate of a likeness of .7 is off by .06 (one sigma)."""

_STEEP, _FLAT = 4, 3
_STEEP_FROM = 0.7
"""Bands of 4 find pairs of likeness .7 with .988, those of 3 pairs of .5 with .94."""

_SPREAD = 4
"""How many that follow it in a bucket each set is paired with: buckets stay linear."""

_SLACK = 0.15
"""How far below the threshold an estimate may lie: two and a half sigma."""

_BLOCK = 1 << 14
_SEED = 20
_LOW = 0xFFFFFFFF
_ODD = 0x9E3779B97F4A7C15


def compute_signatures(shingles: "Hashes", starts: "Places") -> "Signatures":
    """Return the signature of each set, one a row; a set begins where the one before it ends."""
    import numpy as np

    rng = np.random.default_rng(_SEED)
    factors = rng.integers(0, 1 << 31, SIGNATURE_SIZE, np.uint32) * np.uint32(2) + np.uint32(1)
    offsets = rng.integers(0, 1 << 32, SIGNATURE_SIZE, np.uint32)
    made = np.empty((len(starts), SIGNATURE_SIZE), np.uint32)
    high = (shingles >> np.uint64(32)).astype(np.uint32)
    low = (shingles & np.uint64(_LOW)).astype(np.uint32)
    for place in range(SIGNATURE_SIZE):
        mixed = (high ^ offsets[place]) * factors[place] + low
        mixed ^= mixed >> np.uint32(15)
        mixed *= factors[place - 1]
        made[:, place] = np.minimum.reduceat(mixed, starts)
    return made


def merge_signatures(rows: "Signatures", starts: "Places") -> "Signatures":
    """Return the signatures of unions of sets that stand side by side."""
    import numpy as np

    made: Signatures = np.minimum.reduceat(rows, starts, axis=0)
    return made


def find_candidate_pairs(rows: "Signatures", threshold: float) -> "Pairs":
    """Return the pairs of rows that may reach a likeness, each once."""
    import numpy as np

    width = _STEEP if threshold >= _STEEP_FROM else _FLAT
    keys = [
        _key(rows[:, start : start + width])
        for start in range(0, SIGNATURE_SIZE - width + 1, width)
    ]
    near = [
        pairs[select_possible(rows, pairs, threshold)]
        for band, key in enumerate(keys)
        for pairs in _bucketed(key, keys[band - 1])
    ]
    return np.unique(np.concatenate(near), axis=0)


def select_possible(rows: "Signatures", pairs: "Pairs", threshold: float) -> "NDArray[np.bool_]":
    """Return which pairs may reach a likeness, as far as their signatures tell."""
    return estimate_similarities(rows, pairs) >= threshold - _SLACK


def estimate_similarities(rows: "Signatures", pairs: "Pairs") -> "NDArray[np.float64]":
    """Return how alike the rows of each pair seem to be."""
    import numpy as np

    found = np.empty(len(pairs), np.float64)
    for start in range(0, len(pairs), _BLOCK):
        left, right = pairs[start : start + _BLOCK].T
        found[start : start + _BLOCK] = (rows[left] == rows[right]).mean(axis=1)
    return found


def _key(band: "Signatures") -> "Hashes":
    """Return a number for each row that is the same where the band is."""
    import numpy as np

    keys = np.zeros(len(band), np.uint64)
    for column in band.T:
        keys = (keys ^ column) * np.uint64(_ODD)
    return keys


def _bucketed(keys: "Hashes", others: "Hashes") -> "Iterator[Pairs]":
    """Yield pairs of rows with the same key, the smaller one first.

    Within a crowd those come side by side that agree in another band too.
    """
    import numpy as np

    order = np.lexsort((others, keys))
    ordered = keys[order]
    for step in range(1, _SPREAD + 1):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        yield np.sort(np.stack([order[same], order[same + step]], axis=1), axis=1)


if TYPE_CHECKING:
    Hashes: TypeAlias = NDArray[np.uint64]
    Places: TypeAlias = NDArray[np.int64]

SHINGLE_WIDTH = 3
"""Tokens in a run: a changed word costs three shingles, and few texts share one by chance."""

_KNOWN = 1 << 17
"""The most words whose numbers are remembered."""

_SHORT = 24

_ODD_MULTIPLIER = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_SHIFT = 29


class Shingler:
    """Turns texts into shingles; the same text always gives the same ones."""

    def __init__(self) -> None:
        with translate_import_errors("finding duplicates", "numpy"):
            import numpy as np

        self._np = np
        self._numbers = _Numbers()

    def cut(self, texts: Sequence[str]) -> "tuple[Hashes, Places, Places]":
        """Return the shingles of all texts, where those of each begin, and its tokens' number."""
        np = self._np
        tokens = [self._tokens(text) for text in texts]
        counts = np.fromiter(map(len, tokens), np.int64, len(tokens))
        padded = [one + [0] * (SHINGLE_WIDTH - len(one)) for one in tokens]
        lengths = np.fromiter(map(len, padded), np.int64, len(padded))
        flat = np.fromiter(chain.from_iterable(padded), np.uint64, lengths.sum())
        ends = np.cumsum(lengths)
        whole = np.ones(max(0, len(flat) - SHINGLE_WIDTH + 1), np.bool_)
        for back in range(1, SHINGLE_WIDTH):
            whole[ends[:-1] - back] = False
        starts = np.concatenate([[0], np.cumsum(lengths - SHINGLE_WIDTH + 1)[:-1]]).astype(np.int64)
        return self._runs(flat)[whole], starts, counts

    def of(self, texts: Sequence[str]) -> "Hashes":
        """Return the different shingles of some texts together, in order."""
        found: Hashes = self._np.unique(self.cut(texts)[0])
        return found

    def _runs(self, flat: "Hashes") -> "Hashes":
        """Return a number for each run of tokens."""
        np = self._np
        last = len(flat) - SHINGLE_WIDTH + 1
        runs = np.zeros(max(0, last), np.uint64)
        for place, odd in enumerate(_ODD_MULTIPLIER):
            runs += flat[place : place + len(runs)] * np.uint64(odd)
        mixed: Hashes = runs ^ (runs >> np.uint64(_SHIFT))
        return mixed

    def _tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, those of `index_tokens`."""
        found: list[int] = []
        for unit in split_units(normalize_for_index(text)):
            found += self._numbers[unit]
        return found


class _Numbers(dict[str, tuple[int, ...]]):
    """The numbers of the tokens of each unit; short units are remembered."""

    def __missing__(self, unit: str) -> tuple[int, ...]:
        made = tuple(map(_number, tokenize_unit(unit)))
        if len(self) >= _KNOWN:
            self.clear()
        if len(unit) <= _SHORT:
            self[unit] = made
        return made


def compute_jaccard(left: "Hashes", right: "Hashes") -> float:
    """Return what two sets of shingles share of all that they hold."""
    import numpy as np

    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / ((len(left) + len(right) - shared) or 1)


@lru_cache(maxsize=_KNOWN)
def _number(token: str) -> int:
    raw = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "little")


MIN_TOKENS = 20
"""Shorter passages (a lone heading, a link) repeat everywhere and tell nothing."""

_BATCH = 1024
_TOLD_EVERY = 16 * _BATCH
_DIGEST = 12


@dataclass(slots=True)
class SignedPassages:
    """Passages by place, those of one document side by side; texts and contents as digests."""

    keys: list[Key] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """The document of each passage, by its place among the documents."""
    counts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
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

    def starts(self) -> "Places":
        """Return where the passages of each document begin."""
        import numpy as np

        return np.array(self.begins, np.int64)


def sign_passages(
    library: LibraryReader, filters: Filters, report: ProgressCallback
) -> SignedPassages:
    """Return the passages of all documents that pass the filters."""
    found = SignedPassages()
    shingler = Shingler()
    total = None if filters.active else library.count_chunks()
    last: DocId | None = None
    for batch in _batches(library.iterate_chunk_texts(filters)):
        for passage in batch:
            if passage.doc_id != last:
                last = passage.doc_id
                found.begins.append(len(found.keys))
                found.contents.append(passage.content_hash)
            found.keys.append(passage.key)
            found.owners.append(len(found.begins) - 1)
            found.texts.append(_digest(passage.text))
        shingles, starts, counts = shingler.cut([passage.text for passage in batch])
        found.counts.extend(counts.tolist())
        found.parts.append(compute_signatures(shingles, starts))
        if len(found.keys) % _TOLD_EVERY == 0:
            report(_told(len(found.keys), total))
    return found


def _batches(passages: Iterator[ChunkText]) -> Iterator[list[ChunkText]]:
    while batch := list(islice(passages, _BATCH)):
        yield batch


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()


def _told(done: int, total: int | None) -> Progress:
    kind = ProgressKind.HEARTBEAT
    return Progress(kind=kind, phase="compare", done=done, total=total, unit="chunks")
