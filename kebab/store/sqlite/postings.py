"""The word index in memory: the rows of a word as arrays, scored at once.

FTS5 looks up the size of every row that matches, which takes nine tenths of a search for words
that thousands of rows hold. A process that stays open reads all sizes once, and the rows of each
word when it is first asked for.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from kebab.core.chunk import KeyedScore
from kebab.store.sqlite import columns
from kebab.store.sqlite.fts import FOLD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
"""The parameters of bm25 that FTS5 has built in."""

LEAST_IDF = 1e-6
"""What FTS5 takes for the idf of a word in half of the rows or more."""

HELD, HELD_TIMES = 4_000_000, 8
"""How many rows of words are kept in all, 48 megabytes, or so many times the size of the index."""

_SIZES = "SELECT id, sz FROM chunks_fts_docsize ORDER BY id"
_INSTANCES = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunks_instances"
    " USING fts5vocab('main', 'chunks_fts', 'instance')"
)
_OF_TERM = (
    "SELECT group_concat(doc * 4 + CASE col WHEN 'title' THEN 0 WHEN 'headings' THEN 1 ELSE 2 END)"
    " FROM temp.chunks_instances WHERE term = ?"
)


class Rows(NamedTuple):
    """The rows that hold a word, by their place among all, and what it is worth in each."""

    places: "NDArray[np.int32]"
    scores: "NDArray[np.float64]"


class Postings:
    """The word index of one snapshot under bm25.

    Args:
        database: The snapshot.
        weights: What a word in the title, in a heading and in the body is worth.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float]) -> None:
        import numpy as np

        self._database = database
        self._weights = np.array(weights, np.float64)
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute(_INSTANCES)
        rows: list[Any] = database.execute(_SIZES).fetchall()
        self._keys = np.array([key for key, _ in rows], np.int64)
        tokens = columns.varint_sums(size for _, size in rows)
        mean = max(1, int(tokens.sum())) / max(1, len(tokens))
        self._sizes = K1 * (1 - B + B * tokens / mean)
        self._rows: OrderedDict[str, Rows] = OrderedDict()
        self.held = 0
        """How many rows of words are in memory."""

    def best(self, terms: Sequence[str], limit: int) -> list[KeyedScore]:
        """Return the best rows that hold any of different terms, ties by key.

        Scores are those of FTS5 to the last bit: the same formula, summed in the same order.
        """
        import numpy as np

        scores = np.zeros(len(self._keys))
        for term in terms:
            rows = self._of(term.translate(FOLD))
            scores[rows.places] += rows.scores
        found = np.flatnonzero(scores)
        if 0 < limit < len(found):
            reached = scores[found]
            floor = np.partition(reached, len(found) - limit)[len(found) - limit]
            found = found[reached >= floor]
        # Places rise with keys, and a stable sort leaves ties as they are.
        best = found[np.argsort(-scores[found], kind="stable")[:limit]]
        return list(zip(self._keys[best].tolist(), scores[best].tolist(), strict=True))

    def _of(self, term: str) -> Rows:
        rows = self._rows.get(term)
        if rows is None:
            rows = self._rows[term] = self._read(term)
            self.held += len(rows.places)
            self._forget()
        self._rows.move_to_end(term)
        return rows

    def _forget(self) -> None:
        """Drop what was not asked for in the longest time; the last one stays in any case."""
        most = max(HELD, HELD_TIMES * len(self._keys))
        while self.held > most and len(self._rows) > 1:
            _, rows = self._rows.popitem(last=False)
            self.held -= len(rows.places)

    def _read(self, term: str) -> Rows:
        import numpy as np

        (found,) = columns.numbers(self._database, _OF_TERM, (term,))
        keys, column = found >> 2, found & 3
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        if not len(starts):
            return Rows(np.empty(0, np.int32), np.empty(0, np.float64))
        often = np.add.reduceat(self._weights[column], starts)
        places = np.searchsorted(self._keys, keys[starts])
        share = (often * (K1 + 1.0)) / (often + self._sizes[places])
        return Rows(places.astype(np.int32), self._idf(len(starts)) * share)

    def _idf(self, count: int) -> float:
        idf = math.log((len(self._keys) - count + 0.5) / (count + 0.5))
        return idf if idf > 0 else LEAST_IDF
