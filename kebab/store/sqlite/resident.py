"""What a process that stays open keeps in memory of one state of the library."""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from math import inf

import apsw

from kebab.core.ids import DocNumber, Key
from kebab.store.sqlite import columns, fts
from kebab.store.sqlite.postings import Postings
from kebab.store.sqlite.purchase import Purchase

_NUMPY_S = 0.1
"""What importing numpy takes, about, where nothing else has needed it."""

_WORDS_S, _OWNERS_S, _COMMITTED_S = 6e-7, 1.5e-7, 1e-7
"""What taking in one row takes, about."""

_COUNTS = 10_000


class Resident:
    """Tables of one corpus revision in memory, each made once it has paid.

    Args:
        database: A snapshot of the revision; every later use is within one.
        weights: What a word in the title, in a heading and in the body is worth to bm25.
        revision: The corpus revision.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float], revision: int) -> None:
        self.revision = revision
        self.words = Purchase(lambda: Postings(database, weights), self._price(_WORDS_S))
        self.owners = Purchase(lambda: Owners(database), self._price(_OWNERS_S))
        self.committed = Purchase(lambda: Committed(database), self._price(_COMMITTED_S))
        self._database = database
        self._counts: dict[str, int] = {}

    def frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs; each is looked up once."""
        missing = [term for term in terms if term not in self._counts]
        if len(self._counts) + len(missing) > _COUNTS:
            self._counts, missing = {}, list(terms)
        if missing:
            self._counts.update(fts.frequency(self._database, missing))
        return {term: self._counts[term] for term in terms}

    @cached_property
    def _rows(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def _price(self, row_s: float) -> Callable[[], float]:
        return lambda: row_s * self._rows + _arrays_s()


def _arrays_s() -> float:
    """Return how many seconds it takes until arrays can be made; without numpy that is never."""
    if "numpy" in sys.modules:
        return 0.0
    from importlib.util import find_spec

    return _NUMPY_S if find_spec("numpy") else inf


class Owners:
    """The document of every chunk."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key), group_concat(doc) FROM chunks"
        keys, documents = columns.numbers(database, sql)
        order = keys.argsort(kind="stable")
        self._keys, self._documents = keys[order], documents[order]

    def of(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the documents of these chunks; unknown keys are left out."""
        found, at = columns.places(self._keys, keys)
        return dict(zip(found.tolist(), self._documents[at].tolist(), strict=True))


class Committed:
    """The chunks whose vector is stored."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key) FROM vectors WHERE state = 'committed'"
        (keys,) = columns.numbers(database, sql)
        keys.sort()
        self._keys = keys

    def among(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks have a stored vector."""
        return set(columns.places(self._keys, keys)[0].tolist())
