"""Contains the turns of ask sessions, written without the writer lock, also during an ingest.

A turn is a question with its answer; `standalone` is the question completed from earlier turns.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec.structs import astuple, replace

from kebab.core.answers import Turn
from kebab.errors.catalog import ReadOnly
from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import get_database_path, open_reader, translate_sqlite_errors
from kebab.wire.ask import SessionSummary
from kebab.wire.record import format_timestamp

_COLUMNS = (
    "session, turn, question, standalone, answer, refusal, mode, model, created,"
    " stop_reason, cancel_observed, folder"
)
_LAST = f"SELECT {_COLUMNS} FROM turns WHERE session = ? ORDER BY turn DESC LIMIT ?"  # noqa: S608 - fixed names
_ADD = f"INSERT INTO turns ({_COLUMNS}) VALUES ({', '.join('?' * len(Turn.__struct_fields__))})"  # noqa: S608 - fixed names
_NEXT = "SELECT coalesce(max(turn) + 1, 0) FROM turns WHERE session = ?"
_SESSIONS = (
    "SELECT s.session, s.turns, s.answered, s.stopped, latest.folder,"
    " oldest.question, oldest.created, latest.created"
    " FROM (SELECT session, count(*) AS turns, min(turn) AS first, max(turn) AS last,"
    " sum(refusal IS NULL) AS answered, sum(stop_reason <> 'completed') AS stopped"
    " FROM turns GROUP BY session) AS s"
    " JOIN turns AS oldest ON oldest.session = s.session AND oldest.turn = s.first"
    " JOIN turns AS latest ON latest.session = s.session AND latest.turn = s.last"
    " ORDER BY latest.created DESC, s.session"
)
_MAX_WAIT_S = 5.0


class SqliteSessionStore:
    """Stores the turns of ask sessions; each call opens the database, a write is one transaction.

    A turn does not change the corpus, so the revision stays the same. Every method raises
    `NotIndexed` when there is no database with the schema of this build. Those that write raise
    `ReadOnly` when that is switched off, and `Locked` when another writer takes too long.
    """

    def __init__(
        self, data_dir: Path, limit: int, *, read_only: bool = False, wait_s: float = _MAX_WAIT_S
    ) -> None:
        """Keep up to `limit` turns of each session; wait `wait_s` seconds for other writers."""
        self._data_dir = data_dir
        self._path = str(get_database_path(data_dir))
        self._limit = limit
        self._read_only = read_only
        self._wait_s = wait_s

    def list_turns(self, session: str, last: int | None = None) -> list[Turn]:
        """Return the turns of a session in order, or only the last ones; none when unknown."""
        with self._open_for_reading() as database:
            rows = database.execute(_LAST, (session, -1 if last is None else last)).fetchall()
        names = Turn.__struct_fields__
        return [
            msgspec.convert(dict(zip(names, row, strict=True)), Turn, strict=False)
            for row in reversed(rows)
        ]

    def add_turn(self, turn: Turn) -> int:
        """Append a turn to its session and return its index, from 0.

        `turn.index` is ignored. The oldest turns beyond the limit are deleted; indexes continue.
        """
        with self._open_for_writing("ask --session") as database:
            index = int(database.execute(_NEXT, (turn.session,)).get)
            database.execute(_ADD, astuple(replace(turn, index=index)))
            database.execute(
                "DELETE FROM turns WHERE session = ? AND turn <= ?",
                (turn.session, index - self._limit),
            )
        return index

    def list_sessions(self) -> list[SessionSummary]:
        """Return every session, the most recently used first."""
        with self._open_for_reading() as database:
            rows: list[Any] = database.execute(_SESSIONS).fetchall()
        return [
            SessionSummary(
                **dict(zip(SessionSummary.__struct_fields__, row, strict=False)),
                created_at=format_timestamp(created),
                updated_at=format_timestamp(updated),
            )
            for *row, created, updated in rows
        ]

    def delete_session(self, session: str) -> int:
        """Delete a session and return how many turns it had."""
        with self._open_for_writing("session rm") as database:
            database.execute("DELETE FROM turns WHERE session = ?", (session,))
            return database.changes()

    @contextmanager
    def _open_for_reading(self) -> Iterator[apsw.Connection]:
        with (
            translate_sqlite_errors(self._path, "read"),
            closing(open_reader(self._data_dir)) as database,
        ):
            yield database

    @contextmanager
    def _open_for_writing(self, operation: str) -> Iterator[apsw.Connection]:
        """Yield the database in an exclusive write transaction."""
        if self._read_only:
            raise ReadOnly(operation=operation)
        with (
            translate_sqlite_errors(self._path, "write"),
            connection.open_side_writer(self._data_dir, self._wait_s) as database,
        ):
            database.execute("PRAGMA synchronous = FULL")
            with database:
                yield database
