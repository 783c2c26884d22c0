"""Contains the revision cache: tables in memory for one corpus revision."""

import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cached_property
from math import inf
from typing import Generic, TypeVar

import apsw

from kebab.config import tuning
from kebab.core.ids import DocNumber, Key
from kebab.store.sqlite import fts, postings, vector_state
from kebab.store.sqlite.postings import Postings

T = TypeVar("T")
R = TypeVar("R")


class AmortizedTable(Generic[T]):
    """A table in memory that is built once queries without it have cost as much as building it.

    The number of queries of a process is not known in advance. This rule costs at most twice as
    much as the best choice (the ski rental problem).

    Args:
        build: Builds the table.
        estimate_cost: Returns about how many seconds that takes.
        clock: Returns seconds that never run backwards.
    """

    def __init__(
        self,
        build: Callable[[], T],
        estimate_cost: Callable[[], float],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._build = build
        self._estimate_cost = estimate_cost
        self._clock = clock
        self._spent = 0.0
        self._table: T | None = None

    def query(self, with_table: Callable[[T], R], without_table: Callable[[], R]) -> R:
        """Answer a query from the table, or without it while building the table does not pay."""
        if self._table is None and self._spent and self._spent >= self._estimate_cost():
            self._table = self._build()
        if self._table is not None:
            return with_table(self._table)
        started = self._clock()
        try:
            return without_table()
        finally:
            self._spent += self._clock() - started


_MAX_FREQUENCIES = 10_000


class RevisionCache:
    """Tables of one corpus revision in memory; each is built once it pays.

    Args:
        database: A snapshot of the revision; every later use is in such a snapshot.
        weights: The bm25 weights of title, headings and body.
        revision: The corpus revision.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float], revision: int) -> None:
        self.revision = revision
        self.postings = AmortizedTable(
            lambda: Postings(database, weights), self._estimate_cost(tuning.WORD_TABLE_ROW_S)
        )
        self.document_numbers = AmortizedTable(
            lambda: DocumentNumbers(database), self._estimate_cost(tuning.DOCUMENT_TABLE_ROW_S)
        )
        self.committed_keys = AmortizedTable(
            lambda: CommittedKeys(database), self._estimate_cost(tuning.COMMITTED_TABLE_ROW_S)
        )
        self._database = database
        self._frequencies: dict[str, int] = {}

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs; each term is read once."""
        missing = [term for term in terms if term not in self._frequencies]
        if len(self._frequencies) + len(missing) > _MAX_FREQUENCIES:
            self._frequencies, missing = {}, list(terms)
        if missing:
            self._frequencies.update(fts.get_document_frequencies(self._database, missing))
        return {term: self._frequencies[term] for term in terms}

    @cached_property
    def pending(self) -> int:
        """The number of chunks without a vector."""
        return vector_state.count_pending(self._database, self.revision)

    @cached_property
    def _rows(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def _estimate_cost(self, row_s: float) -> Callable[[], float]:
        return lambda: row_s * self._rows + _estimate_numpy_import_s()


def _estimate_numpy_import_s() -> float:
    """Return the seconds until numpy can be used; infinity without numpy."""
    if "numpy" in sys.modules:
        return 0.0
    from importlib.util import find_spec

    with suppress(ImportError):  # there is too little memory for it
        return tuning.NUMPY_IMPORT_S if find_spec("numpy") else inf
    return inf


class DocumentNumbers:
    """The number of the document of every chunk."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key), group_concat(doc) FROM chunks"
        keys, documents = postings.read_integer_columns(database, sql)
        order = keys.argsort(kind="stable")
        self._keys, self._documents = keys[order], documents[order]

    def find(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the document numbers of these chunks; unknown keys are left out."""
        present, positions = postings.find_positions(self._keys, keys)
        return dict(zip(present.tolist(), self._documents[positions].tolist(), strict=True))


class CommittedKeys:
    """The keys of the chunks whose vector is committed."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key) FROM vectors WHERE state = 'committed'"
        (keys,) = postings.read_integer_columns(database, sql)
        keys.sort()
        self._keys = keys

    def find(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks have a committed vector."""
        return set(postings.find_positions(self._keys, keys)[0].tolist())
