"""Computes the MinHash signatures of texts, which estimate how similar texts are.

A text is a set of shingles: runs of three tokens. `kebab.search.duplicates` finds copies by them.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kebab.core.ids import Key, compute_digest
from kebab.core.ports import LibraryReader
from kebab.core.progress import Progress, ProgressCallback, ProgressKind
from kebab.errors.system import translate_import_errors
from kebab.text.language import split_units
from kebab.text.normalize import normalize_for_index
from kebab.text.tokenizer import tokenize_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Signatures: TypeAlias = NDArray[np.uint32]
    Hashes: TypeAlias = NDArray[np.uint64]
    Indexes: TypeAlias = NDArray[np.int64]


class Text(NamedTuple):
    """The text of one or more passages, with the name that `name_text` gives it."""

    name: str
    keys: tuple[Key, ...]


_BATCH = 1024
_REPORT_EVERY = 256
_CACHED_SETS = 4096
"""How many sets of shingles are cached."""


class SignatureIndex:
    """The signatures of the passages of a library, and exact similarities of texts."""

    def __init__(self, library: LibraryReader, report: ProgressCallback) -> None:
        with translate_import_errors("finding duplicates", "numpy"):
            import numpy  # noqa: F401, ICN001 - loaded here, so that its absence is an error

        self._library = library
        self._report = report
        self._similarity: dict[frozenset[str], float] = {}
        self._load_shingles = lru_cache(_CACHED_SETS)(self._compute_shingles)

    def sign_passages(
        self, keys: Sequence[Key], names: Sequence[str]
    ) -> "tuple[Signatures, NDArray[np.uint32]]":
        """Return the signature and the number of tokens of each passage; equal texts cost once."""
        import numpy as np

        distinct = dict(zip(names, keys, strict=True))
        counts, rows = [np.empty(0, np.uint32)], [np.empty((0, SIGNATURE_SIZE), np.uint32)]
        first = list(distinct.values())
        for start in range(0, len(first), _BATCH):
            batch = first[start : start + _BATCH]
            shingles, starts, tokens = shingle_texts(self._load_passages(batch))
            counts.append(tokens.astype(np.uint32))
            rows.append(compute_signatures(shingles, starts))
            self._report_step("sign", start + len(batch), len(first), "chunks")
        places = {name: place for place, name in enumerate(distinct)}
        order = np.fromiter(map(places.__getitem__, names), np.int64, len(names))
        return np.concatenate(rows)[order], np.concatenate(counts)[order]

    def measure(self, left: Text, right: Text) -> float:
        """Return the exact similarity of two texts: the share of their shingles in common."""
        pair = frozenset((left.name, right.name))
        if pair not in self._similarity:
            score = compute_jaccard(self._load_shingles(left), self._load_shingles(right))
            self._similarity[pair] = score
            if len(self._similarity) % _REPORT_EVERY == 0:
                self._report_step("compare", len(self._similarity), None, "pairs")
        return self._similarity[pair]

    def _compute_shingles(self, text: Text) -> "Hashes":
        import numpy as np

        return np.unique(shingle_texts(self._load_passages(text.keys))[0])

    def _load_passages(self, keys: Sequence[Key]) -> list[str]:
        by_key = self._library.load_texts(keys)
        return [by_key[key] for key in keys]

    def _report_step(self, phase: str, done: int, total: int | None, unit: str) -> None:
        kind = ProgressKind.HEARTBEAT
        self._report(Progress(kind=kind, phase=phase, done=done, total=total, unit=unit))


def name_text(hashes: Sequence[str]) -> str:
    """Return the name of the text of one or more passages, given the hash of each."""
    return hashes[0] if len(hashes) == 1 else compute_digest("".join(hashes))


SIGNATURE_SIZE = 64
"""Values in a signature: the estimate of a similarity of .7 is off by .06 (one sigma)."""

_SEED = 20
_LOW = 0xFFFFFFFF


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


SHINGLE_WIDTH = 3
"""Tokens in a shingle: a changed word costs three, and few texts share one by chance."""

_CACHED_UNITS = 1 << 16
"""How many units are cached with the hashes of their tokens."""

_ODD_MULTIPLIER = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_SHIFT = 29


def shingle_texts(texts: Sequence[str]) -> "tuple[Hashes, Indexes, Indexes]":
    """Return the shingles of all texts, where those of each text start, and its token count.

    They are hashes that depend on the text alone.
    """
    import numpy as np

    # Texts are cut as `tokenize` cuts them.
    tokens = [
        [one for unit in split_units(normalize_for_index(text)) for one in _hash_unit(unit)]
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


@lru_cache(maxsize=_CACHED_UNITS)
def _hash_unit(unit: str) -> tuple[int, ...]:
    """Return the hashes of the tokens of a unit."""
    raw = (token.encode("utf-8", "surrogatepass") for token in tokenize_unit(unit))
    return tuple(int.from_bytes(blake2b(one, digest_size=8).digest(), "little") for one in raw)


def compute_jaccard(left: "Hashes", right: "Hashes") -> float:
    """Return the share of common shingles among all shingles of two sets."""
    import numpy as np

    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared / ((len(left) + len(right) - shared) or 1)
