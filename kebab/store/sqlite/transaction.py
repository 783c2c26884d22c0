"""Transactions of the writer: each unit of work whole, many units in one commit for speed."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import apsw

from kebab.store.sqlite import state, waiting
from kebab.store.sqlite.failures import translated

_UNITS_PER_COMMIT = 256
_SECONDS_PER_COMMIT = 1.0


class Transactions:
    """Runs units of work; inside `batch` they share commits and stay atomic one by one."""

    def __init__(
        self, database: apsw.Connection, path: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._path = path
        self._monotonic = monotonic
        self._batching = False
        self._visible = False
        self._units = 0
        self._began = 0.0

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Do the work within wholly or not at all."""
        with translated(self._path, "write"):
            self._begin()
            self._database.execute("SAVEPOINT unit")
            with ExitStack() as undo:
                undo.callback(self._undo)
                yield
                undo.pop_all()
            self._database.execute("RELEASE unit")
            self._units += 1
            if self._due():
                self._commit()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Let the units within share commits; finished ones are kept, also on an interrupt.

        A full disk is the exception: SQLite then gives up all units since the last commit.
        """
        self._batching = True
        try:
            yield
        finally:
            self._batching = False
            with translated(self._path, "write"):
                self._commit()

    def changed(self) -> None:
        """Note that search will see the difference, so that the commit moves the revision."""
        self._visible = True

    def _begin(self) -> None:
        if self._database.in_transaction:
            return
        self._database.execute("BEGIN IMMEDIATE")
        self._units, self._visible = 0, False
        self._began = self._monotonic()

    def _undo(self) -> None:
        # After a full disk SQLite has already rolled back, and there is no savepoint to return to.
        if self._database.in_transaction:
            self._database.execute("ROLLBACK TO unit")
            self._database.execute("RELEASE unit")
        if not self._batching:
            self._rollback()

    def _due(self) -> bool:
        if not self._batching:
            return True
        late = self._monotonic() - self._began >= _SECONDS_PER_COMMIT
        return late or self._units >= _UNITS_PER_COMMIT

    def _commit(self) -> None:
        if not self._database.in_transaction:
            return
        try:
            if self._visible:
                state.advance(self._database)
            waiting.settle(self._database)
            self._database.execute("COMMIT")
        except apsw.Error:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
