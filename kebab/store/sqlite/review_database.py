"""Opens the database of stored runs, which is apart from the index and needs no writer lock."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw

from kebab.core.own_process import require_own_process
from kebab.errors.catalog import NotIndexed, ReadOnly
from kebab.errors.system import translate_os_errors
from kebab.store.sqlite import connection
from kebab.store.sqlite.damage import find_file_damage
from kebab.store.sqlite.errors import translate_sqlite_errors

REVIEWS_NAME = "reviews.sqlite"
MIGRATIONS = "reviews"
"""The folder of its SQL files, below that of the index."""


def get_reviews_path(data_dir: Path) -> Path:
    """Return the path of the database of runs in a data directory."""
    return data_dir / REVIEWS_NAME


class ReviewDatabase:
    """One connection, opened by the first use. Reading creates no file."""

    def __init__(self, data_dir: Path, *, read_only: bool, wait_s: float) -> None:
        """Wait `wait_s` seconds for other writers."""
        self.path = get_reviews_path(data_dir)
        self._data_dir = data_dir
        self._read_only = read_only
        self._wait_s = wait_s
        self._database: apsw.Connection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._database is not None:
            with translate_sqlite_errors(str(self.path), "write"):
                self._database.close()
            self._database = None

    @contextmanager
    def read(self) -> Iterator[apsw.Connection | None]:
        """Yield the database, or None when there is no file."""
        with translate_sqlite_errors(str(self.path), "read"):
            if self._database is None and self.path.exists():
                self._database = self._open_read_only() if self._read_only else self._open()
            yield self._database

    def find_damage(self) -> list[str]:
        """Return the faults of the file and its schema as phrases; none without a file."""
        with self.read() as database:
            return [] if database is None else find_file_damage(database, MIGRATIONS)

    @contextmanager
    def write(self, operation: str) -> Iterator[apsw.Connection]:
        """Yield the database in an exclusive write transaction; create it if needed.

        Raises:
            ReadOnly: Writing is switched off.
            Locked: Another writer held the database for longer than the wait.
        """
        if self._read_only:
            raise ReadOnly(operation=operation)
        require_own_process()
        with translate_sqlite_errors(str(self.path), "write"):
            database = self._database = self._database or self._create()
            database.set_busy_handler(connection.build_busy_handler(self._wait_s))
            database.execute("BEGIN IMMEDIATE")
            with ExitStack() as undo:
                undo.callback(_roll_back, database)
                yield database
                database.execute("COMMIT")
                undo.pop_all()

    def _create(self) -> apsw.Connection:
        with translate_os_errors(self._data_dir, "create"):
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._open()

    def _open_read_only(self) -> apsw.Connection | None:
        """Return the database, or None when its creation was interrupted."""
        database = connection.connect_read_only(self.path)
        with ExitStack() as undo:
            undo.callback(database.close)
            if not connection.read_schema_version(database):
                return None
            with self._name_file():
                connection.check_schema_version(database, self._data_dir, MIGRATIONS)
            undo.pop_all()
        return database

    def _open(self) -> apsw.Connection:
        """Open the database for writing; create or migrate it if needed."""
        database = apsw.Connection(str(self.path))
        with ExitStack() as undo:
            undo.callback(database.close)
            database.set_busy_handler(connection.build_busy_handler(self._wait_s))
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("PRAGMA foreign_keys = ON")
            self._migrate(database)
            undo.pop_all()
        return database

    def _migrate(self, database: apsw.Connection) -> None:
        """Migrate to the schema of this build; another process may be doing the same."""
        wanted = connection.get_expected_schema_version(MIGRATIONS)
        if connection.read_schema_version(database) == wanted:
            return
        database.execute("PRAGMA journal_mode = WAL")
        connection.persist_log(database)
        database.execute("BEGIN IMMEDIATE")
        with self._name_file():
            connection.migrate(database, self._data_dir, MIGRATIONS)
        database.execute("COMMIT")

    @contextmanager
    def _name_file(self) -> Iterator[None]:
        """Name this file in the error about its schema."""
        try:
            yield
        except NotIndexed as signal:
            raise NotIndexed(**{**signal.details(), "file": str(self.path)}) from None


def _roll_back(database: apsw.Connection) -> None:
    # With a full disk, SQLite has already rolled back.
    if database.in_transaction:
        database.execute("ROLLBACK")
