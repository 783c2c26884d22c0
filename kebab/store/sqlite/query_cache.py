"""Contains the query cache: cached answers by corpus revision."""

from contextlib import ExitStack
from pathlib import Path

import apsw

from kebab.errors.catalog import NotIndexed
from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import get_database_path, truncate_log

_ROWS = 512
_BATCH = 64
"""How many answers are buffered, because each write empties the page caches of all readers."""

_LONG_LOG_BYTES = 4_000_000
"""The bytes of log from which emptying it is cheaper for later readers."""


class QueryCache:
    """Small answers by namespace, question and revision; the least recently used are evicted.

    No method fails or waits: with a busy, missing or read-only database, answers are not cached.
    Answers are written in batches, and on closing.
    """

    def __init__(self, data_dir: Path, rows: int = _ROWS) -> None:
        self._path = get_database_path(data_dir)
        self._rows = rows
        self._database = self._open()
        self._buffer: dict[tuple[str, str, int], bytes] = {}

    def _open(self) -> apsw.Connection | None:
        try:
            with ExitStack() as undo:
                database = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
                undo.callback(database.close)
                database.set_busy_timeout(0)
                connection.check_schema_version(database, self._path.parent)
                connection.configure_side_writer(database)
                undo.pop_all()
        except (apsw.Error, NotIndexed):
            return None
        return database

    def get(self, namespace: str, question: str, revision: int) -> bytes | None:
        """Return the cached answer, or None."""
        if self._database is None:
            return None
        buffered = self._buffer.get((namespace, question, revision))
        if buffered is not None:
            return buffered
        try:
            row = self._database.execute(
                "SELECT rowid, answer, used, (SELECT max(used) FROM query_cache) FROM query_cache"
                " WHERE namespace = ? AND question = ? AND revision = ?",
                (namespace, question, revision),
            ).fetchone()
            if row is None:
                return None
            self._use(self._database, row[0], row[3] - row[2])
        except apsw.Error:
            return None
        return bytes(row[1])

    def _use(self, database: apsw.Connection, row: int, age: int) -> None:
        """Mark a row as used, but only an old one, so that most reads do not write."""
        if age < self._rows // 2:
            return
        try:
            database.execute(
                "UPDATE query_cache SET used = (SELECT max(used) + 1 FROM query_cache)"
                " WHERE rowid = ?",
                (row,),
            )
        except (apsw.BusyError, apsw.ReadOnlyError):
            return

    def put(self, namespace: str, question: str, revision: int, answer: bytes) -> None:
        """Cache an answer if that is possible at once."""
        if self._database is None:
            return
        self._buffer[namespace, question, revision] = answer
        if len(self._buffer) >= _BATCH:
            self._write(self._database)

    def _write(self, database: apsw.Connection) -> None:
        """Write the buffered answers, or drop them."""
        rows = [(*key, answer) for key, answer in self._buffer.items()]
        self._buffer = {}
        if not rows:
            return
        try:
            with database:
                database.executemany(
                    "INSERT OR REPLACE INTO query_cache"
                    " (namespace, question, revision, answer, used) VALUES (?, ?, ?, ?,"
                    " (SELECT coalesce(max(used), 0) + 1 FROM query_cache))",
                    rows,
                )
                database.execute(
                    "DELETE FROM query_cache WHERE rowid IN (SELECT rowid FROM query_cache"
                    " ORDER BY used DESC LIMIT -1 OFFSET ?)",
                    (self._rows,),
                )
        except apsw.Error:
            return

    def close(self) -> None:
        """Write the buffered answers and close the connection.

        The log only grows while readers are active, so a long one is emptied now.
        """
        if self._database is not None:
            self._write(self._database)
            self._shorten(self._database)
            self._database.close()
            self._database = None

    def _shorten(self, database: apsw.Connection) -> None:
        log = self._path.with_name(self._path.name + "-wal")
        try:
            if log.stat().st_size > _LONG_LOG_BYTES:
                truncate_log(database)
        except (OSError, apsw.Error):
            return
