"""Contains write transactions and the storage of named values, the revision and runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import apsw

from kebab.store.sqlite import fts
from kebab.store.sqlite.errors import translate_sqlite_errors

_UNITS_PER_COMMIT = 256
_SECONDS_PER_COMMIT = 1.0


class Transactions:
    """Runs units of work; inside `batch` they share commits, and each stays atomic."""

    def __init__(
        self, database: apsw.Connection, path: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._path = path
        self._monotonic = monotonic
        self._batching = False
        self._is_changed = False
        self._units = 0
        self._began = 0.0

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Run the block as a whole or not at all."""
        with translate_sqlite_errors(self._path, "write"):
            self._begin()
            self._database.execute("SAVEPOINT unit")
            with ExitStack() as undo:
                undo.callback(self._roll_back_unit)
                yield
                undo.pop_all()
            self._database.execute("RELEASE unit")
            self._units += 1
            if self._is_commit_due():
                self._commit()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Let the units in the block share commits; an interrupt keeps the finished ones.

        With a full disk, SQLite rolls back all units since the last commit.
        """
        self._batching = True
        try:
            yield
        finally:
            self._batching = False
            with translate_sqlite_errors(self._path, "write"):
                self._commit()

    def mark_changed(self) -> None:
        """Mark a change that search can see, so that the commit raises the revision."""
        self._is_changed = True

    def _begin(self) -> None:
        if self._database.in_transaction:
            return
        self._database.execute("BEGIN IMMEDIATE")
        self._units, self._is_changed = 0, False
        self._began = self._monotonic()

    def _roll_back_unit(self) -> None:
        # With a full disk, SQLite has already rolled back, and there is no savepoint any more.
        if self._database.in_transaction:
            self._database.execute("ROLLBACK TO unit")
            self._database.execute("RELEASE unit")
        if not self._batching:
            self._rollback()

    def _is_commit_due(self) -> bool:
        if not self._batching:
            return True
        late = self._monotonic() - self._began >= _SECONDS_PER_COMMIT
        return late or self._units >= _UNITS_PER_COMMIT

    def _commit(self) -> None:
        if not self._database.in_transaction:
            return
        try:
            if self._is_changed:
                advance_revision(self._database)
            fts.flush_write_buffer(self._database)
            self._database.execute("COMMIT")
        except apsw.Error:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")


_REVISION = "corpus_revision"
_MAX_RUNS = 256


def get_value(database: apsw.Connection, name: str) -> str | None:
    """Return a stored value by name."""
    row = database.execute("SELECT value FROM kv WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_value(database: apsw.Connection, name: str, value: str | None) -> None:
    """Store a value by name; None deletes it."""
    if value is None:
        database.execute("DELETE FROM kv WHERE name = ?", (name,))
        return
    database.execute(
        "INSERT INTO kv (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def get_revision(database: apsw.Connection) -> int:
    """Return the corpus revision, which rises with every change that search can see."""
    return int(get_value(database, _REVISION) or 0)


def advance_revision(database: apsw.Connection) -> None:
    """Raise the corpus revision by one."""
    set_value(database, _REVISION, str(get_revision(database) + 1))


def record_run(
    database: apsw.Connection, scope: str, started: float, finished: float, changed: int
) -> None:
    """Record a run and delete old ones, but never the last that changed anything."""
    database.execute(
        "INSERT INTO runs (scope, started, finished, changed) VALUES (?, ?, ?, ?)",
        (scope, started, finished, changed),
    )
    database.execute(
        "DELETE FROM runs WHERE run <= (SELECT max(run) FROM runs) - ?"
        " AND run <> (SELECT max(run) FROM runs WHERE changed > 0)",
        (_MAX_RUNS,),
    )


def read_last_change(database: apsw.Connection) -> float | None:
    """Return when the last run that changed anything finished."""
    sql = "SELECT finished FROM runs WHERE changed > 0 ORDER BY run DESC LIMIT 1"
    row = database.execute(sql).fetchone()
    return None if row is None else float(row[0])
