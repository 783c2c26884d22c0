"""Computes and keeps the MinHash signatures of texts, which estimate how similar texts are.

A text is a set of shingles: runs of three tokens. `kebab.search.duplicates` finds copies by them.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from kebab import __version__
from kebab.core.durable import DerivedFile
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


class _Contents(msgspec.Struct, array_like=True):
    """What is kept: of each text its name, number of tokens and signature, and exact similarities.

    The name of a pair is the names of both texts, the smaller one first.
    """

    names: list[str] = []
    counts: bytes = b""
    rows: bytes = b""
    similarity: dict[str, float] = {}


MAGIC = f"kebab signatures 1 {__version__} ".encode()
"""The beginning of what is kept: another build may cut texts into other tokens."""

_NAME = 32
"""The length of a name."""

_BATCH = 1024
_REPORT_EVERY = 256
_CACHED_SETS = 4096
"""How many sets of shingles are cached."""


class SignatureIndex:
    """The signatures of passages by the hashes of their texts, and exact similarities of texts.

    Both depend on the texts and on this build alone. What `kept` has is not computed again.
    """

    def __init__(self, library: LibraryReader, kept: DerivedFile, report: ProgressCallback) -> None:
        with translate_import_errors("finding duplicates", "numpy"):
            import numpy as np

        self._library = library
        self._kept = kept
        self._report = report
        contents = _Contents()
        if raw := kept.read():
            with suppress(msgspec.MsgspecError):
                contents = msgspec.msgpack.decode(raw, type=_Contents)
        self._places = {name: place for place, name in enumerate(contents.names)}
        self._counts = np.frombuffer(contents.counts, np.uint32)
        self._rows = np.frombuffer(contents.rows, np.uint32).reshape(-1, SIGNATURE_SIZE)
        self._similarity = contents.similarity
        self._signed = self._measured = 0
        self._is_sound = True
        self._load_shingles = lru_cache(_CACHED_SETS)(self._compute_shingles)

    def sign_passages(
        self, keys: Sequence[Key], names: Sequence[str]
    ) -> "tuple[Signatures, NDArray[np.uint32]]":
        """Return the signature and the number of tokens of each passage."""
        import numpy as np

        found = zip(names, keys, strict=True)
        new = list({name: key for name, key in found if name not in self._places}.items())
        counts, rows = [self._counts], [self._rows]
        for start in range(0, len(new), _BATCH):
            batch = [Text(name, (key,)) for name, key in new[start : start + _BATCH]]
            shingles, starts, tokens = shingle_texts(self._load_passages(batch))
            counts.append(tokens.astype(np.uint32))
            rows.append(compute_signatures(shingles, starts))
            self._places |= {text.name: at for at, text in enumerate(batch, len(self._places))}
            self._signed += len(batch)
            self._report_step("sign", self._signed, len(new), "chunks")
        self._counts, self._rows = np.concatenate(counts), np.concatenate(rows)
        places = np.fromiter(map(self._places.__getitem__, names), np.int64, len(names))
        return self._rows[places], self._counts[places]

    def find_similarity(self, left: str, right: str) -> float | None:
        """Return the similarity of two texts by their names; None when it was never measured."""
        return self._similarity.get(left + right if left < right else right + left)

    def measure(self, left: Text, right: Text) -> float:
        """Return the exact similarity of two texts: the share of their shingles in common."""
        score = compute_jaccard(self._load_shingles(left), self._load_shingles(right))
        self._similarity["".join(sorted((left.name, right.name)))] = score
        self._measured += 1
        if self._measured % _REPORT_EVERY == 0:
            self._report_step("compare", self._measured, None, "pairs")
        return score

    def keep(self, existing: AbstractSet[str] | None) -> None:
        """Keep what was computed, for the next call.

        Args:
            existing: The names of the texts of the library, the only ones that are kept; None when
                they are not all known.
        """
        import numpy as np

        is_stale = existing is not None and not self._places.keys() <= existing
        if not self._is_sound or not (self._signed or self._measured or is_stale):
            return
        names = [name for name in self._places if existing is None or name in existing]
        pairs = {
            pair: one
            for pair, one in self._similarity.items()
            if existing is None or (pair[:_NAME] in existing and pair[_NAME:] in existing)
        }
        places = np.fromiter(map(self._places.__getitem__, names), np.int64, len(names))
        counts, rows = self._counts[places].tobytes(), self._rows[places].tobytes()
        with suppress(OSError):  # the next call computes it again
            self._kept.write(msgspec.msgpack.encode(_Contents(names, counts, rows, pairs)))

    def _compute_shingles(self, text: Text) -> "Hashes":
        import numpy as np

        shingles = shingle_texts(self._load_passages([text]))[0]
        return np.unique(shingles)

    def _load_passages(self, texts: Sequence[Text]) -> list[str]:
        """Return the passages of some texts; nothing is kept if one lacks its hash."""
        keys = [key for text in texts for key in text.keys]
        by_key = self._library.load_texts(keys)
        for text in texts:
            hashes = [compute_digest(by_key[key]) for key in text.keys]
            self._is_sound = self._is_sound and name_text(hashes) == text.name
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
