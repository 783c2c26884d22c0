"""Contains the stored runs of reviews: documents, the list of finished units, and pages.

Their database is apart from the index and needs no writer lock.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw
import msgspec

from kebab.core.review import (
    FinishedUnit,
    PlannedDocument,
    Position,
    ReviewCounts,
    StoredPage,
    StoredRun,
    Unit,
    UnitKey,
    UnitResult,
    UnitState,
)
from kebab.errors.catalog import ReadOnly
from kebab.store.sqlite import connection
from kebab.store.sqlite.catalogue import find_file_faults
from kebab.store.sqlite.connection import translate_sqlite_errors
from kebab.store.sqlite.lock import await_replacement

T = TypeVar("T")

REVIEWS_NAME = "reviews.sqlite"
MIGRATIONS = "reviews"
"""The folder of its SQL files, below that of the index."""


def get_reviews_path(data_dir: Path) -> Path:
    """Return the path of the database of runs in a data directory."""
    return data_dir / REVIEWS_NAME


_MAX_WAIT_S = 5.0

_RUN = "run = (SELECT run FROM runs WHERE run_id = ?)"
_RUN_COLUMNS = "run_id, kind, tier, model, request, salt, page_items, created"
_COUNT_WORK = """
WITH work AS (
    SELECT answered,
        coalesce(json_extract(CAST(result AS TEXT), '$.usage.requests'), 0) AS requests,
        coalesce(json_extract(CAST(result AS TEXT), '$.usage.truncated'), 0) AS truncated
    FROM units
)
SELECT count(*), coalesce(sum(truncated), 0), coalesce(sum(requests > 1), 0),
    coalesce(sum(requests > 1 AND answered), 0)
FROM work WHERE requests > 0
"""
_encoder = msgspec.json.Encoder()
_result_decoder = msgspec.json.Decoder(UnitResult)
_units_decoder = msgspec.json.Decoder(tuple[Unit, ...])
_files_decoder = msgspec.json.Decoder(tuple[str, ...])


class SqliteReviewStore(AbstractContextManager["SqliteReviewStore"]):
    """Stores runs in a database file or in memory; what is stored first stays. Close it after use.

    Each call opens the file. Reading creates none, and finds no run of an earlier build. Every
    method raises `NotIndexed` for a file that a newer build wrote. Those that write raise `Locked`
    when another writer holds it for longer than the wait, and `ReadOnly`.
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
        """Keep runs for `keep_days` days after their last work; without a directory, in memory.

        Other writers are waited for `wait_s` seconds.
        """
        if data_dir is not None:
            await_replacement(data_dir)
        self.path = get_reviews_path(data_dir or Path(":memory:"))
        self._data_dir = data_dir or Path()
        self._read_only = read_only
        self._wait_s = wait_s
        self._memory = connection.create_schema(MIGRATIONS) if data_dir is None else None
        self._keep_s = keep_days * 86_400
        self._now = now

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is in memory."""
        if self._memory is not None:
            self._memory.close()

    @contextmanager
    def read(self) -> Iterator[apsw.Connection | None]:
        """Yield the database, or None without one of this build."""
        with translate_sqlite_errors(str(self.path), "read"), ExitStack() as opened:
            database = self._memory
            if database is None and self.path.exists():
                found = opened.enter_context(closing(connection.connect_read_only(self.path)))
                if connection.check_schema_version(
                    found, self._data_dir, MIGRATIONS, may_be_older=True
                ):
                    database = found
            yield database

    def find_damage(self) -> list[str]:
        """Return the faults of the file and its schema as phrases; none without a file."""
        with self.read() as database:
            return [] if database is None else find_file_faults(database, MIGRATIONS)

    @contextmanager
    def write(self, operation: str) -> Iterator[apsw.Connection]:
        """Yield the database in an exclusive write transaction; create it if needed."""
        if self._read_only:
            raise ReadOnly(operation=operation)
        with translate_sqlite_errors(str(self.path), "write"), ExitStack() as opened:
            database = self._memory
            if database is None:
                found = connection.open_writer(self._data_dir, REVIEWS_NAME, MIGRATIONS)
                database = opened.enter_context(closing(found))
                database.set_busy_handler(connection.build_busy_handler(self._wait_s))
            with database:
                yield database

    def _select(self, build: Callable[..., T], sql: str, *values: Any) -> list[T]:
        """Return what is built of each row; a database that does not exist has none."""
        with self.read() as database:
            return [build(*row) for row in database.execute(sql, values)] if database else []

    def add_run(self, run: StoredRun) -> None:
        """Store a new run, and delete those without work within the age limit."""
        with self.write("review") as database:
            database.execute(
                "DELETE FROM runs WHERE max(created, coalesce("
                "(SELECT max(finished) FROM units WHERE units.run = runs.run), created)) < ?",
                (self._now() - self._keep_s,),
            )
            names = _RUN_COLUMNS.split(", ")
            database.execute(
                f"INSERT INTO runs ({_RUN_COLUMNS}, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - fixed names
                (*(getattr(run, name) for name in names), _encode(run.files)),
            )

    def load_run(self, run_id: str) -> StoredRun | None:
        """Return a run, or None."""

        def build(*values: Any) -> StoredRun:
            fields = dict(zip((*_RUN_COLUMNS.split(", "), "files"), values, strict=True))
            return StoredRun(**fields | {"files": _files_decoder.decode(fields["files"])})

        sql = f"SELECT {_RUN_COLUMNS}, files FROM runs WHERE run_id = ?"  # noqa: S608 - fixed names
        return next(iter(self._select(build, sql, run_id)), None)

    def add_document(self, run_id: str, document: PlannedDocument) -> PlannedDocument | None:
        """Store the plan of a document, and return the stored one; None without the run."""
        with self.write("review") as database:
            database.execute(
                "INSERT OR IGNORE INTO documents (run, number, content_hash, units)"
                " SELECT run, ?, ?, ? FROM runs WHERE run_id = ?",
                (document.number, document.content_hash, _encode(document.units), run_id),
            )
            if database.changes():
                return document
        found = self.list_documents(run_id)
        return next((one for one in found if one.number == document.number), None)

    def list_documents(self, run_id: str) -> list[PlannedDocument]:
        """Return the documents of a run that have a plan, in order."""
        return self._select(
            lambda number, content_hash, units: PlannedDocument(
                number, content_hash, _units_decoder.decode(units)
            ),
            f"SELECT number, content_hash, units FROM documents WHERE {_RUN} ORDER BY number",  # noqa: S608 - fixed names
            run_id,
        )

    def add_unit(self, run_id: str, unit: FinishedUnit) -> bool:
        """Store a finished unit unless there is one with its number; return whether it is stored.

        It is not stored without the run either.
        """
        is_answered = not unit.result.usage.unanswered
        values = (unit.number, *unit.key, is_answered, len(unit.result.items), self._now())
        with self.write("review") as database:
            database.execute(
                "INSERT OR IGNORE INTO units"
                " (run, number, document, place, answered, items, finished, result)"
                " SELECT run, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE run_id = ?",
                (*values, _encoder.encode(unit.result), run_id),
            )
            return database.changes() > 0

    def list_states(self, run_id: str) -> list[UnitState]:
        """Return the list of finished units without their results."""
        return self._select(
            lambda document, place, answered: UnitState(UnitKey(document, place), bool(answered)),
            f"SELECT document, place, answered FROM units WHERE {_RUN} ORDER BY number",  # noqa: S608 - fixed names
            run_id,
        )

    def list_units(self, run_id: str, first: int, end: int) -> list[FinishedUnit]:
        """Return the finished units with the numbers [first, end), in order."""
        return self._select(
            lambda number, document, place, result: FinishedUnit(
                number, UnitKey(document, place), _result_decoder.decode(result)
            ),
            f"SELECT number, document, place, result FROM units WHERE {_RUN}"  # noqa: S608 - fixed names
            " AND number >= ? AND number < ? ORDER BY number",
            *(run_id, first, end),
        )

    def count_work(self) -> ReviewCounts:
        """Return how many units of all runs the model was asked about, and how they ended."""
        return next(iter(self._select(ReviewCounts, _COUNT_WORK)), ReviewCounts(0, 0, 0, 0))

    def add_page(self, run_id: str, cursor: str, page: StoredPage) -> StoredPage:
        """Store the page of a cursor, and return the stored one; its first end stays."""
        with self.write("review") as database:
            database.execute(
                "INSERT INTO pages (run, cursor, unit, offset, end_unit, end_offset)"
                " SELECT run, ?, ?, ?, ?, ? FROM runs WHERE run_id = ?"
                " ON CONFLICT DO UPDATE SET end_unit = excluded.end_unit,"
                " end_offset = excluded.end_offset WHERE end_unit IS NULL",
                (cursor, *page.start, *(page.end or (None, None)), run_id),
            )
        return self.find_page(run_id, cursor) or page

    def find_page(self, run_id: str, cursor: str) -> StoredPage | None:
        """Return the page of a cursor of a run, or None."""
        found = self._select(
            lambda unit, offset, *end: StoredPage(
                Position(unit, offset), None if end[0] is None else Position(*end)
            ),
            f"SELECT unit, offset, end_unit, end_offset FROM pages WHERE {_RUN} AND cursor = ?",  # noqa: S608 - fixed names
            *(run_id, cursor),
        )
        return next(iter(found), None)


def _encode(value: object) -> str:
    return _encoder.encode(value).decode()
