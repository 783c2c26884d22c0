"""Contains the postings of the word index in memory, as arrays."""

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import apsw

from kebab.core.chunks import KeyedScore
from kebab.store.sqlite.fts import ASCII_LOWER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
"""The bm25 parameters that FTS5 has built in."""

MIN_IDF = 1e-6
"""The idf that FTS5 gives a word in half of the rows or more."""

MAX_CACHED_ROWS, MAX_CACHED_FACTOR = 4_000_000, 8
"""The most cached rows of all words: a number (48 MB), or a multiple of the chunks if larger."""

_SIZES = "SELECT id, sz FROM chunks_fts_docsize ORDER BY id"
_INSTANCES = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunks_instances"
    " USING fts5vocab('main', 'chunks_fts', 'instance')"
)
_OF_TERM = (
    "SELECT group_concat(doc * 4 + CASE col WHEN 'title' THEN 0 WHEN 'headings' THEN 1 ELSE 2 END)"
    " FROM temp.chunks_instances WHERE term = ?"
)


class TermPostings(NamedTuple):
    """The positions of the chunks that contain a word, and its score in each."""

    positions: "NDArray[np.int32]"
    scores: "NDArray[np.float64]"


class Postings:
    """The word index of one snapshot under bm25.

    Args:
        database: The snapshot.
        weights: The bm25 weights of title, headings and body.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float]) -> None:
        import numpy as np

        self._database = database
        self._weights = np.array(weights, np.float64)
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute(_INSTANCES)
        rows: list[Any] = database.execute(_SIZES).fetchall()
        self._keys = np.array([key for key, _ in rows], np.int64)
        tokens = sum_varints(size for _, size in rows)
        mean = max(1, int(tokens.sum())) / max(1, len(tokens))
        self._sizes = K1 * (1 - B + B * tokens / mean)
        self._rows: OrderedDict[str, TermPostings] = OrderedDict()
        self.cached_rows = 0
        """How many rows of words are cached."""

    def search(self, terms: Sequence[str], limit: int) -> list[KeyedScore]:
        """Return the best chunks that contain any of different terms, ties by key.

        The scores equal those of FTS5 to the last bit: same formula, same order of summation.
        """
        import numpy as np

        scores = np.zeros(len(self._keys))
        for term in terms:
            rows = self._get_postings(term.translate(ASCII_LOWER))
            scores[rows.positions] += rows.scores
        found = np.flatnonzero(scores)
        if 0 < limit < len(found):
            reached = scores[found]
            floor = np.partition(reached, len(found) - limit)[len(found) - limit]
            found = found[reached >= floor]
        # Positions rise with keys, and a stable sort keeps the order of ties.
        best = found[np.argsort(-scores[found], kind="stable")[:limit]]
        return list(zip(self._keys[best].tolist(), scores[best].tolist(), strict=True))

    def _get_postings(self, term: str) -> TermPostings:
        rows = self._rows.get(term)
        if rows is None:
            rows = self._rows[term] = self._read(term)
            self.cached_rows += len(rows.positions)
            self._evict()
        self._rows.move_to_end(term)
        return rows

    def _evict(self) -> None:
        """Evict the least recently used words; the latest one always stays."""
        most = max(MAX_CACHED_ROWS, MAX_CACHED_FACTOR * len(self._keys))
        while self.cached_rows > most and len(self._rows) > 1:
            _, rows = self._rows.popitem(last=False)
            self.cached_rows -= len(rows.positions)

    def _read(self, term: str) -> TermPostings:
        import numpy as np

        (packed,) = read_integer_columns(self._database, _OF_TERM, (term,))
        keys, column = packed >> 2, packed & 3
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        if not len(starts):
            return TermPostings(np.empty(0, np.int32), np.empty(0, np.float64))
        weighted_count = np.add.reduceat(self._weights[column], starts)
        positions = np.searchsorted(self._keys, keys[starts])
        saturation = (weighted_count * (K1 + 1.0)) / (weighted_count + self._sizes[positions])
        return TermPostings(positions.astype(np.int32), self._compute_idf(len(starts)) * saturation)

    def _compute_idf(self, count: int) -> float:
        idf = math.log((len(self._keys) - count + 0.5) / (count + 0.5))
        return idf if idf > 0 else MIN_IDF


if TYPE_CHECKING:
    Numbers: TypeAlias = NDArray[np.int64]

_LAST_OF_VARINT = 0x80
"""A byte below it is the last one of a variable-length integer."""


def read_integer_columns(
    database: apsw.Connection, sql: str, values: Sequence[str] = ()
) -> "list[Numbers]":
    """Return the integer columns that a query joins with `group_concat`."""
    row = database.execute(sql, values).fetchone() or ()
    return [_parse_integers(text) for text in row]


def find_positions(keys: "Numbers", wanted: Collection[int]) -> "tuple[Numbers, Numbers]":
    """Return which wanted keys occur among rising keys, and their positions there."""
    import numpy as np

    candidates = np.fromiter(wanted, np.int64, len(wanted))
    positions = np.searchsorted(keys, candidates)
    inside = positions < len(keys)
    positions, candidates = positions[inside], candidates[inside]
    is_present = keys[positions] == candidates
    return candidates[is_present], positions[is_present]


def _parse_integers(text: str | None) -> "Numbers":
    import numpy as np

    return np.fromstring(text, np.int64, sep=",") if text else np.empty(0, np.int64)


def sum_varints(blobs: Iterable[bytes]) -> "Numbers":
    """Return the sum of the variable-length integers in each blob of SQLite.

    Such an integer has groups of seven bits, the highest first; every byte but the last has its
    high bit set (SQLite file format, section 1.6). No blob may be empty.
    """
    import numpy as np

    rows = list(blobs)
    if not rows:
        return np.empty(0, np.int64)
    raw = np.frombuffer(b"".join(rows), np.uint8)
    ends = np.flatnonzero(raw < _LAST_OF_VARINT)
    indexes = np.arange(len(raw))
    bytes_after = ends[np.searchsorted(ends, indexes)] - indexes
    values = (raw & (_LAST_OF_VARINT - 1)).astype(np.int64) << (7 * bytes_after)
    starts = np.cumsum([0, *map(len, rows[:-1])])
    sums: Numbers = np.add.reduceat(values, starts)
    return sums
