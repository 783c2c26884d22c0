"""Contains read-only access to the library for search, a pool of readers, and their caches.

The caches are of one corpus revision: the revision cache holds tables in memory, the query cache
answers in the database.
"""

import sys
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import apsw
from msgspec import Struct

from kebab.config import tuning
from kebab.core.chunks import KeyedScore, PassageHashes
from kebab.core.ids import DocId, DocNumber, Key
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.store.sqlite import chunks, connection, fts
from kebab.store.sqlite.connection import (
    forward,
    get_database_path,
    get_expected_schema_version,
    open_reader,
    read_schema_version,
    take_file_state,
    translate_sqlite_errors,
    truncate_log,
)
from kebab.store.sqlite.fts import EQUAL_WEIGHTS, Postings, Weights

if TYPE_CHECKING:
    from kebab.store.stamps import FileState

T = TypeVar("T")
R = TypeVar("R")


class AmortizedTable(Struct, Generic[T]):
    """A table in memory that is built once queries without it have cost as much as building it.

    The number of queries of a process is not known in advance. This rule costs at most twice as
    much as the best choice (the ski rental problem).

    `estimate_cost` returns about how many seconds building it takes.
    """

    _build: Callable[[], T]
    _estimate_cost: Callable[[], float]
    _clock: Callable[[], float] = time.perf_counter
    _spent: float = 0.0
    table: T | None = None
    """The table, None until it is built."""

    def query(self, with_table: Callable[[T], R], without_table: Callable[[], R]) -> R:
        """Answer a query from the table, or without it while building the table does not pay."""
        if self.table is None and self._spent and self._spent >= self._estimate_cost():
            try:
                self.table = self._build()
            except ImportError:  # words are searched without numpy too
                self._spent = -inf
        if self.table is not None:
            return with_table(self.table)
        started = self._clock()
        try:
            return without_table()
        finally:
            self._spent += self._clock() - started


_MAX_FREQUENCIES = 10_000


class RevisionCache:
    """Tables of one state of the library in memory; each is built once it pays.

    `state` equals for snapshots of the same state only; every later use is in such a snapshot.
    """

    def __init__(self, database: apsw.Connection, weights: Sequence[float], state: object) -> None:
        self.state = state
        self.postings = AmortizedTable(
            lambda: Postings(self._database, weights), self._estimate_cost(tuning.WORD_TABLE_ROW_S)
        )
        self.document_numbers = AmortizedTable(
            lambda: DocumentNumbers(self._database),
            self._estimate_cost(tuning.DOCUMENT_TABLE_ROW_S),
        )
        self.committed_keys = AmortizedTable(
            lambda: CommittedKeys(self._database), self._estimate_cost(tuning.COMMITTED_TABLE_ROW_S)
        )
        self._database = database
        self._frequencies: dict[str, int] = {}

    def follow(self, database: apsw.Connection) -> None:
        """Read from now on through another connection to the same state."""
        if database is not self._database:
            self._database = database
            if self.postings.table is not None:
                self.postings.table.follow(database)

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
        revision = connection.get_revision(self._database)
        return chunks.count_pending(self._database, revision)

    @cached_property
    def _rows(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def _estimate_cost(self, row_s: float) -> Callable[[], float]:
        return lambda: row_s * self._rows + _estimate_numpy_import_s()


def _estimate_numpy_import_s() -> float:
    """Return the seconds until numpy can be used; infinity without numpy."""
    if sys.modules.get("numpy"):
        return 0.0
    from importlib.util import find_spec

    with suppress(ImportError, ValueError):  # there is too little memory for it, or it is broken
        return tuning.NUMPY_IMPORT_S if find_spec("numpy") else inf
    return inf


class DocumentNumbers:
    """The number of the document of every chunk."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key), group_concat(doc) FROM chunks"
        keys, documents = fts.read_integer_columns(database, sql)
        order = keys.argsort(kind="stable")
        self._keys, self._documents = keys[order], documents[order]

    def find(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the document numbers of these chunks; unknown keys are left out."""
        present, positions = fts.find_positions(self._keys, keys)
        return dict(zip(present.tolist(), self._documents[positions].tolist(), strict=True))


class CommittedKeys:
    """The keys of the chunks whose vector is committed."""

    def __init__(self, database: apsw.Connection) -> None:
        sql = "SELECT group_concat(key) FROM vectors WHERE state = 'committed'"
        (keys,) = fts.read_integer_columns(database, sql)
        keys.sort()
        self._keys = keys

    def find(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks have a committed vector."""
        return set(fts.find_positions(self._keys, keys)[0].tolist())


_ROWS = 512
_BATCH = 64
"""How many answers are buffered, because each write empties the page caches of all readers."""

_LONG_LOG_BYTES = 4_000_000
"""The bytes of log from which emptying it is cheaper for later readers."""


_CHECKSUM_BYTES = 4


def _add_checksum(question: str, answer: bytes) -> bytes:
    """Return an answer behind its checksum, without which a damaged one would count."""
    checksum = zlib.crc32(question.encode("utf-8", "surrogatepass") + answer)
    return checksum.to_bytes(_CHECKSUM_BYTES, "big") + answer


class QueryCache:
    """Small answers by namespace, question and revision; the least recently used are evicted.

    No method fails or waits: with a busy, missing or read-only database, answers are not cached.
    Answers are written in batches, and on closing.
    """

    def __init__(self, data_dir: Path, rows: int = _ROWS) -> None:
        self._path = get_database_path(data_dir)
        self._rows = rows
        self._database: apsw.Connection | None = None
        self._files: FileState | None = None
        self._state: object = None
        self._buffer: dict[tuple[str, str, int], bytes] = {}

    def _connect(self) -> apsw.Connection | None:
        """Return a connection to the present files; None when there is none.

        A write through an older one would damage a file that another program wrote over. What is
        buffered belongs to the state of the library for which it was computed.
        """
        if self._files is None or not self._files.holds():
            self.disconnect()
            self._files = take_file_state(self._path)
            # A damaged file may hold a revision that is no number.
            with suppress(apsw.Error, NotIndexed, ValueError), ExitStack() as undo:
                database = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
                undo.callback(database.close)
                database.set_busy_timeout(0)
                connection.check_schema_version(database, self._path.parent)
                connection.configure_side_writer(database)
                file, revision = self._files.stamps[0], connection.get_revision(database)
                place = (file and file[:2], revision)
                state = connection.read_state_name(database) or place
                if state != self._state:
                    self._buffer = {}
                self._database, self._state = database, state
                undo.pop_all()
        return self._database

    def disconnect(self) -> None:
        """Close the connection; buffered answers stay, and the next use opens it again."""
        if self._database is not None:
            self._database.close()
        self._database = self._files = None

    def get(self, namespace: str, question: str, revision: int) -> bytes | None:
        """Return the cached answer, or None."""
        database = self._connect()
        if database is None:
            return None
        buffered = self._buffer.get((namespace, question, revision))
        if buffered is not None:
            return buffered
        try:
            row = database.execute(
                "SELECT rowid, answer, used, (SELECT max(used) FROM query_cache) FROM query_cache"
                " WHERE namespace = ? AND question = ? AND revision = ?",
                (namespace, question, revision),
            ).fetchone()
            if row is None:
                return None
            # Only an old row is marked as used, so that most reads do not write.
            if row[3] - row[2] >= self._rows // 2:
                with suppress(apsw.BusyError, apsw.ReadOnlyError):
                    database.execute(
                        "UPDATE query_cache SET used = (SELECT max(used) + 1 FROM query_cache)"
                        " WHERE rowid = ?",
                        (row[0],),
                    )
        except (apsw.Error, UnicodeDecodeError):
            return None
        stored = bytes(row[1])
        answer = stored[_CHECKSUM_BYTES:]
        return answer if stored == _add_checksum(question, answer) else None

    def put(self, namespace: str, question: str, revision: int, answer: bytes) -> None:
        """Cache an answer if that is possible at once."""
        database = self._connect()
        if database is None:
            return
        self._buffer[namespace, question, revision] = answer
        if len(self._buffer) >= _BATCH:
            self._write(database)

    def _write(self, database: apsw.Connection) -> None:
        """Write the buffered answers, or drop them."""
        rows = [(*key, _add_checksum(key[1], value)) for key, value in self._buffer.items()]
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
        """Write the buffered answers and close the connection; the next use opens it again.

        The log only grows while readers are active, so a long one is emptied now.
        """
        if self._database is not None and (database := self._connect()) is not None:
            self._write(database)
            log = self._path.with_name(self._path.name + "-wal")
            with suppress(OSError, apsw.Error):
                if log.stat().st_size > _LONG_LOG_BYTES:
                    truncate_log(database)
        self.disconnect()


class SqliteReader:
    """A `LibraryReader` over one snapshot, which begins with the first read after opening.

    Its cache serves later snapshots as long as the state of the library stays the same.
    """

    get_revision = forward(connection.get_revision)
    get_value = forward(connection.get_value)
    load_chunks = forward(chunks.load_chunks)
    load_first_chunks = forward(chunks.load_first_chunks)
    find_named_documents = forward(fts.find_named_documents)
    list_similar_words = forward(fts.list_similar_words)

    def __init__(
        self,
        data_dir: Path,
        weights: fts.Weights = fts.EQUAL_WEIGHTS,
        on_close: "Callable[[SqliteReader], bool] | None" = None,
        cache: RevisionCache | None = None,
    ) -> None:
        """Open the database.

        `on_close` takes the closed reader back; when it returns False, the connection
        closes. The cache of an earlier reader is used if the state is the same.

        Raises:
            NotIndexed: There is no database, or its schema is not the one of this build.
            IoError: The file system refused.
            StoreCorrupt: The file is not a database.
        """
        self.path = str(get_database_path(data_dir))
        self._weights = weights
        self._on_close = on_close
        self._files = take_file_state(get_database_path(data_dir))
        self._database = open_reader(data_dir)
        self.cache = cache
        """The cache of the last snapshot that needed one."""
        self._current = False
        with ExitStack() as undo, translate_sqlite_errors(self.path, "read"):
            undo.callback(self._database.close)
            self._database.execute("BEGIN")
            undo.pop_all()

    @property
    def connection(self) -> apsw.Connection:
        """The connection of the snapshot, for the catalogue."""
        return self._database

    def is_current(self) -> bool:
        """Return whether no file can have changed since the connection was opened.

        SQLite answers from its memory, so it does not notice that another program replaced or wrote
        over its files. Opening them anew takes .3 ms.
        """
        return self._files.holds()

    def begin_snapshot(self) -> bool:
        """Begin a new snapshot after closing; return whether that was possible."""
        try:
            self._database.execute("BEGIN")
            self._current = False
            return read_schema_version(self._database) == get_expected_schema_version()
        except apsw.Error:
            return False

    def close(self) -> None:
        """End the snapshot."""
        reused = self._on_close is not None and self._end_snapshot() and self._on_close(self)
        if not reused:
            self.close_connection()

    def _end_snapshot(self) -> bool:
        """End the snapshot; return whether another one can begin on this connection."""
        try:
            self._database.execute("COMMIT")
        except apsw.Error:
            return False
        return True

    def close_connection(self) -> None:
        """Close the connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.close_connection()

    def count_chunks(self) -> int:
        """Return how many chunks the snapshot holds."""
        with translate_sqlite_errors(self.path, "read"):
            # SQLite counts over a narrow index, a quarter of the size of any table of chunks.
            return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def search_lexical(
        self, match: str, filters: Filters, limit: int, plain: Sequence[str] = ()
    ) -> list[KeyedScore]:
        """Return chunks that match an FTS5 expression under bm25; scores are positive.

        Raises:
            InvalidInput: The expression is not one.
        """
        with translate_sqlite_errors(self.path, "read"):
            if not plain or filters.is_active:
                return self._search_fts(match, filters, limit)
            return self._get_cache().postings.query(
                lambda postings: postings.search(plain, limit),
                lambda: self._search_fts(match, filters, limit),
            )

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs."""
        with translate_sqlite_errors(self.path, "read"):
            return self._get_cache().get_document_frequencies(terms)

    def list_tokens(self, start: str) -> list[str]:
        """Return the tokens of the word index that begin with some letters."""
        with translate_sqlite_errors(self.path, "read"):
            low = start.translate(fts.ASCII_LOWER)
            bounds = (low, low + chr(sys.maxunicode))
            rows = self._database.execute(
                "SELECT term FROM chunks_terms WHERE term >= ? AND term < ?", bounds
            )
            return [str(term) for (term,) in rows]

    def count_pending(self) -> int:
        """Return how many chunks of the snapshot lack a vector."""
        with translate_sqlite_errors(self.path, "read"):
            return self._get_cache().pending

    def list_allowed_keys(self, filters: Filters) -> list[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""
        if not filters.is_active:
            return None
        sql, values = fts.build_chunk_key_query(filters)
        with translate_sqlite_errors(self.path, "read"):
            rows = self._database.execute(f"{sql} ORDER BY c.key", values)
            return [Key(key) for (key,) in rows]

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks the snapshot holds with a committed vector."""
        with translate_sqlite_errors(self.path, "read"):
            return self._get_cache().committed_keys.query(
                lambda table: table.find(keys),
                lambda: chunks.find_committed_keys(self._database, keys),
            )

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""
        with translate_sqlite_errors(self.path, "read"):
            rows = self._database.execute(
                "SELECT c.key, d.doc_id FROM chunks c JOIN documents d ON d.doc = c.doc"
                " WHERE c.key IN (SELECT value FROM json_each(?))",
                (fts.to_json(keys),),
            )
            return {Key(key): DocId(doc_id) for key, doc_id in rows}

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return document numbers of this snapshot by chunk; unknown keys are left out."""
        with translate_sqlite_errors(self.path, "read"):
            return self._get_cache().document_numbers.query(
                lambda table: table.find(keys),
                lambda: chunks.find_doc_numbers(self._database, keys),
            )

    def list_passages(self, filters: Filters) -> PassageHashes:
        """Return the chunks that pass the filters, document by document, each in its order."""
        with translate_sqlite_errors(self.path, "read"):
            where, values = fts.build_condition(filters)
            rows = self._database.execute(
                "SELECT c.key, d.doc, a.content_hash, c.text_hash FROM documents d"  # noqa: S608 - values are bound
                " CROSS JOIN assets a ON a.asset = d.asset CROSS JOIN chunks c ON c.doc = d.doc"
                f" WHERE {where} ORDER BY d.source, d.path, c.ordinal",
                values,
            )
            found: list[Any] = rows.fetchall()
        return PassageHashes(*([row[column] for row in found] for column in range(4)))

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        """Return the texts of chunks; unknown keys are left out."""
        sql = "SELECT key, text FROM chunks WHERE key IN (SELECT value FROM json_each(?))"
        with translate_sqlite_errors(self.path, "read"):
            return dict(self._database.execute(sql, (fts.to_json(keys),)))

    def _search_fts(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        try:
            return fts.search(self._database, match, filters, self._weights, limit)
        except apsw.SQLError as error:
            raise InvalidInput(field="$.query", cause=str(error)) from error

    def _get_cache(self) -> RevisionCache:
        """Return the cache of the state of this snapshot."""
        if self.cache is not None and self._current:
            return self.cache
        # Without a name of the state, the cache serves this connection only.
        name = connection.read_state_name(self._database) or self._files
        state = (name, connection.get_revision(self._database), self._files.stamps[0])
        if self.cache is None or self.cache.state != state:
            self.cache = RevisionCache(self._database, self._weights, state)
        self.cache.follow(self._database)
        self._current = True
        return self.cache


class ReaderPool:
    """Reuses the connection of a closed reader of one data directory, on a new snapshot.

    A new connection reads the schema again and starts with an empty page cache. What the reader
    keeps in memory outlives the connection. Only one thread may use the pool, and a closed reader
    must not be used.
    """

    def __init__(
        self,
        data_dir: Path,
        weights: Weights = EQUAL_WEIGHTS,
        build: Callable[..., SqliteReader] = SqliteReader,
    ) -> None:
        self._data_dir = data_dir
        self._weights = weights
        self._build = build
        self._idle: SqliteReader | None = None
        self._cache: RevisionCache | None = None

    def acquire(self) -> SqliteReader:
        """Return a reader with its own snapshot; closing it returns it to the pool."""
        if self.is_current() and self._idle is not None and self._idle.begin_snapshot():
            reader, self._idle = self._idle, None
            return reader
        self.close()
        cache, self._cache = self._cache, None
        return self._build(self._data_dir, self._weights, self._take, cache)

    def is_current(self) -> bool:
        """Return whether the idle reader, if there is one, can be used again."""
        return self._idle is None or self._idle.is_current()

    def close(self) -> None:
        """Close the idle reader; the next one is opened anew."""
        reader, self._idle = self._idle, None
        if reader is not None:
            reader.close_connection()
            self._cache = reader.cache

    def _take(self, reader: SqliteReader) -> bool:
        if self._idle is not None:
            return False
        self._idle = reader
        return True
