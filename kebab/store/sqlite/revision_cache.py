"""Caches tables in memory for one corpus revision."""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import inf
from typing import Generic, TypeVar

import apsw

from kebab.config import tuning
from kebab.core.ids import DocNumber, Key
from kebab.store.sqlite import fts, postings
from kebab.store.sqlite.postings import Postings

T = TypeVar("T")
R = TypeVar("R")


class AmortizedTable(Generic[T]):
    """Something that is worth making only for who asks again and again.

    Nobody knows how often a process will ask. Who waits until renting has cost as much as buying
    pays at most twice what was best (the ski rental problem).

    Args:
        make: Makes it.
        price: Returns how many seconds that takes, about.
        clock: Returns seconds that never run backwards.
    """

    def __init__(
        self,
        make: Callable[[], T],
        price: Callable[[], float],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._make = make
        self._price = price
        self._clock = clock
        self._spent = 0.0
        self._made: T | None = None

    def get(self) -> T | None:
        """Return it once it has paid, None before."""
        if self._made is None and self._spent and self._spent >= self._price():
            self._made = self._make()
        return self._made

    def query(self, bought: Callable[[T], R], rented: Callable[[], R]) -> R:
        """Return what it gives once made; before that, what is had without it, which is counted."""
        made = self.get()
        if made is not None:
            return bought(made)
        with self._measure():
            return rented()

    @contextmanager
    def _measure(self) -> Iterator[None]:
        """Count what is done without it."""
        started = self._clock()
        try:
            yield
        finally:
            self._spent += self._clock() - started


_MAX_FREQUENCIES = 10_000


class RevisionCache:
    """Tables of one corpus revision in memory, each made once it has paid.

    Args:
        database: A snapshot of the revision; every later use is within one.
        weights: What a word in the title, in a heading and in the body is worth to bm25.
        revision: The corpus revision.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float], revision: int) -> None:
        self.revision = revision
        self.words = AmortizedTable(
            lambda: Postings(database, weights), self._price(tuning.WORD_TABLE_ROW_S)
        )
        self.owners = AmortizedTable(
            lambda: DocumentNumbers(database), self._price(tuning.DOCUMENT_TABLE_ROW_S)
        )
        self.committed = AmortizedTable(
            lambda: CommittedKeys(database), self._price(tuning.COMMITTED_TABLE_ROW_S)
        )
        self._database = database
        self._counts: dict[str, int] = {}

    def frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs; each is looked up once."""
        missing = [term for term in terms if term not in self._counts]
        if len(self._counts) + len(missing) > _MAX_FREQUENCIES:
            self._counts, missing = {}, list(terms)
        if missing:
            self._counts.update(fts.get_document_frequencies(self._database, missing))
        return {term: self._counts[term] for term in terms}

    @cached_property
    def _rows(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def _price(self, row_s: float) -> Callable[[], float]:
        return lambda: row_s * self._rows + _estimate_numpy_import_s()


def _estimate_numpy_import_s() -> float:
    """Return how many seconds it takes until arrays can be made; without numpy that is never."""
    if "numpy" in sys.modules:
        return 0.0
    from importlib.util import find_spec

    return tuning.NUMPY_IMPORT_S if find_spec("numpy") else inf


class DocumentNumbers:
    """The document of every chunk."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key), group_concat(doc) FROM chunks"
        keys, documents = postings.read_integer_columns(database, sql)
        order = keys.argsort(kind="stable")
        self._keys, self._documents = keys[order], documents[order]

    def find(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the documents of these chunks; unknown keys are left out."""
        found, at = postings.find_positions(self._keys, keys)
        return dict(zip(found.tolist(), self._documents[at].tolist(), strict=True))


class CommittedKeys:
    """The chunks whose vector is stored."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key) FROM vectors WHERE state = 'committed'"
        (keys,) = postings.read_integer_columns(database, sql)
        keys.sort()
        self._keys = keys

    def find(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks have a stored vector."""
        return set(postings.find_positions(self._keys, keys)[0].tolist())
