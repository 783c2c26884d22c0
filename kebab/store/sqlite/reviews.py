"""Contains the stored runs of reviews: documents, units, cursors, pages and counters.

Their database is apart from the index and needs no writer lock. The counters of finished work
outlive the runs.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import msgspec

from kebab.core.durable import create_folder
from kebab.core.review import (
    Position,
    RulesResult,
    RunSummary,
    StoredDocumentReview,
    StoredPage,
    StoredRun,
    StoredUnit,
    Unit,
    UnitResult,
    WorkCounts,
)
from kebab.errors.catalog import NotIndexed, ReadOnly
from kebab.errors.system import translate_os_errors
from kebab.store.sqlite import connection
from kebab.store.sqlite.catalogue import find_file_faults
from kebab.store.sqlite.connection import translate_sqlite_errors
from kebab.store.sqlite.lock import await_replacement

REVIEWS_NAME = "reviews.sqlite"
MIGRATIONS = "reviews"
"""The folder of its SQL files, below that of the index."""


def get_reviews_path(data_dir: Path) -> Path:
    """Return the path of the database of runs in a data directory."""
    return data_dir / REVIEWS_NAME


class ReviewDatabase:
    """One connection, opened by the first use. Reading creates no file."""

    def __init__(self, data_dir: Path | None, *, read_only: bool, wait_s: float) -> None:
        """Wait `wait_s` seconds for other writers; without a directory, stay in memory."""
        if data_dir is not None:
            await_replacement(data_dir)
        self.path = get_reviews_path(data_dir or Path(":memory:"))
        self._data_dir = data_dir or Path()
        self._in_memory = data_dir is None
        self._read_only = read_only
        self._wait_s = wait_s
        self._database = connection.create_schema(MIGRATIONS) if self._in_memory else None

    def exists(self) -> bool:
        """Return whether anything was stored."""
        return self._database is not None or self.path.exists()

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
            return [] if database is None else find_file_faults(database, MIGRATIONS)

    @contextmanager
    def write(self, operation: str) -> Iterator[apsw.Connection]:
        """Yield the database in an exclusive write transaction; create it if needed.

        Raises:
            ReadOnly: Writing is switched off.
            Locked: Another writer held the database for longer than the wait.
        """
        if self._read_only:
            raise ReadOnly(operation=operation)
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
            create_folder(self._data_dir, 0o700)
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
        with translate_os_errors(self.path, "write"):
            connection.keep_copy_before_migration(database, MIGRATIONS)
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


LIST_RUNS = """
    SELECT r.run_id, r.kind, r.tier, r.model, i.request, r.created, r.updated,
        json_array_length(i.files), coalesce(u.done, 0), coalesce(u.items, 0),
        coalesce(d.files, 0) = json_array_length(i.files) AND NOT coalesce(d.waiting, 0)
            AND coalesce(u.done + u.repeated = u.units, 1)
    FROM runs r JOIN run_inputs i ON i.run = r.run
    LEFT JOIN (SELECT run, count(*) AS units, sum(items) AS items,
        sum(result IS NOT NULL AND unanswered = 0) AS done, sum(unanswered = 2) AS repeated
        FROM units GROUP BY run) u ON u.run = r.run
    LEFT JOIN (SELECT run, count(DISTINCT file) AS files, max(waiting) AS waiting
        FROM documents GROUP BY run) d ON d.run = r.run
    ORDER BY r.created DESC, r.run DESC
"""
"""Selects the columns of `RunSummary`, the newest run first."""


_encoder = msgspec.json.Encoder()
_result_decoder = msgspec.json.Decoder(UnitResult)
_unit_decoder = msgspec.json.Decoder(Unit)
_rules_result_decoder = msgspec.json.Decoder(RulesResult)
_files_decoder = msgspec.json.Decoder(tuple[str, ...])


def encode_unit(unit: Unit) -> str:
    """Return the JSON of a unit."""
    return _encoder.encode(unit).decode()


def build_unit(row: tuple[int, int, str, bytes | None, int]) -> StoredUnit:
    """Return the unit of a row: its number, its document, the unit, the result and its state."""
    number, document, unit, result, unanswered = row
    return StoredUnit(
        number, document, _unit_decoder.decode(unit), decode_result(result), unanswered == 1
    )


def decode_result(stored: bytes | None) -> UnitResult | None:
    """Return a result, or None for a unit that is not finished."""
    return None if stored is None else _result_decoder.decode(stored)


_MINUTE_S = 60
_SUMS = ", ".join(f"sum({name})" for name in WorkCounts._fields[3:])
_READ = (
    f"SELECT kind, tier, count(DISTINCT run_id), {_SUMS} FROM work WHERE minute >= ?"  # noqa: S608 - fixed names
    " GROUP BY kind, tier ORDER BY kind, tier"
)


def count_work(database: apsw.Connection, run: int, now: float, **counters: float) -> None:
    """Add to the counters of a run in this minute; their names are those of `WorkCounts`."""
    names, places = ", ".join(counters), ", ".join("?" for _ in counters)
    sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in counters)
    database.execute(
        f"INSERT INTO work (minute, run_id, kind, tier, {names})"  # noqa: S608 - fixed names
        f" SELECT ?, run_id, kind, tier, {places} FROM runs WHERE run = ?"
        f" ON CONFLICT (minute, run_id) DO UPDATE SET {sums}",
        (int(now // _MINUTE_S), *counters.values(), run),
    )


def count_result(database: apsw.Connection, run: int, now: float, result: UnitResult) -> None:
    """Add the result of a unit to the counters of its run."""
    usage = result.usage
    counters: dict[str, Any] = {"units": int(not usage.unanswered), "items": len(result.items)}
    if usage.requests:
        counters |= {
            "answered": len(result.items),
            "requests": usage.requests,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "latency_ms": usage.latency_ms,
            "downshifts": usage.downshifts,
            "json_repairs": usage.repairs,
        }
    count_work(database, run, now, **counters)


def read_work(database: apsw.Connection, since: float | None) -> list[WorkCounts]:
    """Return the work since a time, in whole minutes, by kind and tier."""
    minute = 0 if since is None else int(since // _MINUTE_S)
    return [WorkCounts._make(row) for row in database.execute(_READ, (minute,))]


_MAX_WAIT_S = 5.0
_DAY_S = 86_400

_RUN = "run = (SELECT run FROM runs WHERE run_id = ?)"
_RUN_COLUMNS = "run_id, kind, tier, model, salt, page_items, created, updated"
_DOCUMENT_COLUMNS = "number, file, first, units, next, content_hash, skipped, waiting, again"
_UNIT_COLUMNS = "number, document, unit, result, unanswered"


class SqliteReviewStore(AbstractContextManager["SqliteReviewStore"]):
    """Implements the port `ReviewStore` in a database file or in memory; close it after use.

    The connection opens with the first call. Reading creates no file. Every method raises
    `NotIndexed` for a file that a newer build wrote, `Locked` when another writer holds it for
    longer than the wait, `IoError` and `StoreCorrupt`; those that write also `ReadOnly`.
    """

    def __init__(
        self,
        data_dir: Path | None,
        keep_days: int = 30,
        *,
        read_only: bool = False,
        wait_s: float = _MAX_WAIT_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Keep runs for `keep_days` days after their last use; without a directory, in memory."""
        self._database = ReviewDatabase(data_dir, read_only=read_only, wait_s=wait_s)
        self._read_only = read_only
        self._keep_s = keep_days * _DAY_S
        self._now = now

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def find_damage(self) -> list[str]:
        """Return the faults of the file as phrases; none without a file."""
        return self._database.find_damage()

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those that were not used within the age limit."""
        with self._database.write("review") as database:
            oldest = self._now() - self._keep_s
            database.execute("DELETE FROM runs WHERE used < ?", (oldest,))
            database.execute("DELETE FROM rules_results WHERE stored < ?", (oldest,))
            values = (run.run_id, run.kind, run.tier, run.model, run.salt, run.page_items)
            database.execute(
                f"INSERT INTO runs ({_RUN_COLUMNS}, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - fixed names
                (*values, run.created, run.updated, run.created),
            )
            database.execute(
                "INSERT INTO run_inputs (run, request, files) VALUES (last_insert_rowid(), ?, ?)",
                (run.request, _encoder.encode(run.files).decode()),
            )

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""
        with self._database.read() as database:
            row = _fetch(
                database,
                f"SELECT {_RUN_COLUMNS}, request, files FROM runs JOIN run_inputs USING (run)"  # noqa: S608 - fixed names
                " WHERE run_id = ?",
                (run_id,),
            )
            if row is None:
                return None
            names = [*_RUN_COLUMNS.split(", "), "request"]
            files = _files_decoder.decode(row[-1])
            return StoredRun(**dict(zip(names, row[:-1], strict=True)), files=files)

    def list_runs(self) -> list[RunSummary]:
        """Return every run, the newest first."""
        with self._database.read() as database:
            rows = _fetch_all(database, LIST_RUNS)
            return [RunSummary._make((*row[:-1], bool(row[-1]))) for row in rows]

    def add_document(
        self,
        run_id: str,
        document: StoredDocumentReview,
        units: Sequence[Unit],
        results: Sequence[UnitResult] = (),
    ) -> bool:
        """Store the plan of a document with the results of its first units."""
        with self._database.write("review") as database:
            run = _find_run(database, run_id)
            if run is None:
                return False
            taken = "SELECT 1 FROM documents WHERE run = ? AND number = ?"
            if _fetch(database, taken, (run, document.number)):
                return False
            database.execute(
                "UPDATE documents SET waiting = 0 WHERE run = ? AND file = ? AND waiting",
                (run, document.file),
            )
            database.execute(
                f"INSERT INTO documents (run, {_DOCUMENT_COLUMNS})"  # noqa: S608 - fixed names
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run, *document[:-2], int(document.waiting), int(document.again)),
            )
            if document.again:
                database.executemany(
                    "UPDATE units SET unanswered = 2 WHERE run = ? AND unanswered = 1 AND unit = ?"
                    " AND document IN (SELECT number FROM documents WHERE run = ? AND file = ?)",
                    [(run, encode_unit(unit), run, document.file) for unit in units],
                )
            database.executemany(
                "INSERT INTO units (run, number, document, unit) VALUES (?, ?, ?, ?)",
                [
                    (run, number, document.number, encode_unit(unit))
                    for number, unit in enumerate(units, document.first)
                ],
            )
            for number, result in enumerate(results, document.first):
                self._store_result(database, run, number, result)
        return True

    def find_rules_result(self, file: str) -> RulesResult | None:
        """Return what the rules found in a file the last time, or None."""
        with self._database.read() as database:
            row = _fetch(database, "SELECT result FROM rules_results WHERE file = ?", (file,))
        with suppress(msgspec.MsgspecError):  # another build stored it
            return row and _rules_result_decoder.decode(row[0])
        return None

    def add_rules_results(self, results: Sequence[tuple[str, RulesResult]]) -> None:
        """Store what the rules found in files, instead of what they found before."""
        with self._database.write("review") as database:
            database.executemany(
                "INSERT OR REPLACE INTO rules_results VALUES (?, ?, ?)",
                [(file, _encoder.encode(result), self._now()) for file, result in results],
            )

    def list_documents(self, run_id: str) -> list[StoredDocumentReview]:
        """Return the documents of a run that have a plan, in order."""
        sql = f"SELECT {_DOCUMENT_COLUMNS} FROM documents WHERE {_RUN} ORDER BY number"  # noqa: S608 - fixed names
        with self._database.read() as database:
            rows = _fetch_all(database, sql, (run_id,))
            return [
                StoredDocumentReview._make((*row[:-2], bool(row[-2]), bool(row[-1])))
                for row in rows
            ]

    def cut_document(self, run_id: str, number: int) -> None:
        """Take the unfinished units out of a part, which is waiting from now on if it had any."""
        with self._database.write("review") as database:
            run = _find_run(database, run_id)
            database.execute(
                "DELETE FROM units WHERE run = ? AND document = ? AND result IS NULL", (run, number)
            )
            if cut := database.changes():
                database.execute(
                    "UPDATE documents SET waiting = 1, units = units - ?"
                    " WHERE run = ? AND number = ?",
                    (cut, run, number),
                )

    def load_unit(self, run_id: str, number: int) -> StoredUnit | None:
        """Return a unit, or None when there is none with this number."""
        return next(iter(self.list_units(run_id, number, number + 1)), None)

    def list_units(self, run_id: str, first: int, end: int) -> list[StoredUnit]:
        """Return the units with the numbers [first, end), in order."""
        with self._database.read() as database:
            rows = _fetch_all(
                database,
                f"SELECT {_UNIT_COLUMNS} FROM units WHERE {_RUN}"  # noqa: S608 - fixed names
                " AND number >= ? AND number < ? ORDER BY number",
                (run_id, first, end),
            )
            return [build_unit(row) for row in rows]

    def list_unanswered(self, run_id: str) -> list[StoredUnit]:
        """Return the units that the model has to be asked about again, in order."""
        sql = f"SELECT {_UNIT_COLUMNS} FROM units WHERE {_RUN} AND unanswered = 1 ORDER BY number"  # noqa: S608 - fixed names
        with self._database.read() as database:
            return [build_unit(row) for row in _fetch_all(database, sql, (run_id,))]

    def finish_unit(self, run_id: str, number: int, result: UnitResult) -> UnitResult | None:
        """Store the result of a unit, and return the one that is stored, perhaps an earlier one."""
        with self._database.write("review") as database:
            run = _find_run(database, run_id)
            sql = "SELECT result FROM units WHERE run = ? AND number = ?"
            row = _fetch(database, sql, (run, number))
            if run is None or row is None:
                return None
            if row[0] is not None:
                return decode_result(row[0])
            self._store_result(database, run, number, result)
        return result

    def _store_result(
        self, database: apsw.Connection, run: int, number: int, result: UnitResult
    ) -> None:
        """Store the result of an unfinished unit, and count the work."""
        now = self._now()
        database.execute(
            "UPDATE units SET result = ?, items = ?, unanswered = ? WHERE run = ? AND number = ?",
            (_encoder.encode(result), len(result.items), int(result.usage.unanswered), run, number),
        )
        database.execute("UPDATE runs SET updated = ?, used = ? WHERE run = ?", (now, now, run))
        count_result(database, run, now, result)

    def add_cursor(self, run_id: str, cursor: str, position: Position) -> None:
        """Store what a cursor means."""
        with self._database.write("review") as database:
            database.execute(
                "INSERT OR IGNORE INTO cursors (run, cursor, unit, offset)"
                " SELECT run, ?, ?, ? FROM runs WHERE run_id = ?",
                (cursor, *position, run_id),
            )

    def find_cursor(self, run_id: str, cursor: str) -> Position | None:
        """Return what a cursor of a run means, or None."""
        sql = f"SELECT unit, offset FROM cursors WHERE {_RUN} AND cursor = ?"  # noqa: S608 - fixed names
        with self._database.read() as database:
            row = _fetch(database, sql, (run_id, cursor))
            return Position(*row) if row else None

    def add_page(self, run_id: str, page: StoredPage) -> StoredPage:
        """Store where a page ends, and return the stored page with the same start."""
        with self._database.write("review") as database:
            run = _find_run(database, run_id)
            if run is None:
                return page
            now = self._now()
            database.execute("UPDATE runs SET used = ? WHERE run = ?", (now, run))
            known = _find_page(database, run, page.start)
            if known is None:
                database.execute(
                    "INSERT INTO pages (run, unit, offset, end_unit, end_offset, forced, retries)"
                    " VALUES (?, ?, ?, ?, ?, ?, 0)",
                    (run, *page.start, *page.end, int(page.forced)),
                )
                if page.forced:
                    count_work(database, run, now, forced_pages=1)
                return page._replace(retries=0)
            database.execute(
                "UPDATE pages SET retries = retries + 1 WHERE run = ? AND unit = ? AND offset = ?",
                (run, *page.start),
            )
            count_work(database, run, now, cursor_retries=1)
            return known._replace(retries=known.retries + 1)

    def find_page(self, run_id: str, start: Position) -> StoredPage | None:
        """Return the page that begins at a position, or None."""
        with self._database.read() as database:
            run = _find_run(database, run_id) if database else None
            return _find_page(database, run, start) if database and run is not None else None

    def delete_run(self, run_id: str) -> bool:
        """Delete a run with all that belongs to it; return whether there was one."""
        if not self._read_only and not self._database.exists():
            return False
        with self._database.write("review --rm") as database:
            database.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
            return database.changes() > 0

    def count_work(self, since: float | None = None) -> list[WorkCounts]:
        """Return the work since a time, in whole minutes, by kind and tier."""
        with self._database.read() as database:
            return read_work(database, since) if database else []


def _fetch(database: apsw.Connection | None, sql: str, values: tuple[Any, ...] = ()) -> Any:
    """Return the first row, or None; a database that does not exist has none."""
    return database.execute(sql, values).fetchone() if database else None


def _fetch_all(database: apsw.Connection | None, sql: str, values: tuple[Any, ...] = ()) -> Any:
    return database.execute(sql, values).fetchall() if database else []


def _find_run(database: apsw.Connection, run_id: str) -> int | None:
    row = _fetch(database, "SELECT run FROM runs WHERE run_id = ?", (run_id,))
    return row[0] if row else None


def _find_page(database: apsw.Connection, run: int, start: Position) -> StoredPage | None:
    sql = (
        "SELECT end_unit, end_offset, forced, retries FROM pages"
        " WHERE run = ? AND unit = ? AND offset = ?"
    )
    row = _fetch(database, sql, (run, *start))
    return StoredPage(start, Position(*row[:2]), bool(row[2]), row[3]) if row else None
