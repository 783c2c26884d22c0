"""Contains read-only access to the library for search, a pool of readers, and a query cache."""

import os
import sys
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import apsw

from kebab.core.chunks import KeyedScore, PassageHashes
from kebab.core.ids import DocId, Key
from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.store.sqlite import chunks, connection, fts
from kebab.store.sqlite.connection import (
    forward,
    get_database_path,
    get_expected_schema_version,
    open_reader,
    read_schema_version,
    translate_sqlite_errors,
)
from kebab.store.sqlite.fts import EQUAL_WEIGHTS, Weights

_ROWS = 512


class QueryCache:
    """Small answers by namespace and question; the oldest are evicted.

    No method fails or waits: with a busy, missing or read-only database, answers are not cached.
    They are written on closing, because each write empties the page caches of all readers.
    """

    def __init__(self, data_dir: Path, rows: int = _ROWS) -> None:
        self._path = get_database_path(data_dir)
        self._rows = rows
        self._database: apsw.Connection | None = None
        self._buffer: dict[tuple[str, str], bytes] = {}

    def _connect(self) -> apsw.Connection | None:
        """Return a connection; None when there is no database of this build."""
        if self._database is None:
            with suppress(apsw.Error, NotIndexed), ExitStack() as undo:
                database = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
                undo.callback(database.close)
                database.set_busy_timeout(0)
                connection.check_schema_version(database, self._path.parent)
                connection.configure_side_writer(database)
                self._database = database
                undo.pop_all()
        return self._database

    def get(self, namespace: str, question: str) -> bytes | None:
        """Return the cached answer, or None."""
        if (namespace, question) in self._buffer:
            return self._buffer[namespace, question]
        database = self._connect()
        sql = "SELECT answer FROM query_cache WHERE namespace = ? AND question = ?"
        with suppress(apsw.Error, UnicodeDecodeError):
            row = database.execute(sql, (namespace, question)).fetchone() if database else None
            return None if row is None else bytes(row[0])
        return None

    def put(self, namespace: str, question: str, answer: bytes) -> None:
        """Cache an answer."""
        if self._connect() is not None:
            self._buffer[namespace, question] = answer

    def close(self) -> None:
        """Write the buffered answers if that is possible at once; the next use opens it again."""
        rows = [(*key, answer) for key, answer in self._buffer.items()][-self._rows :]
        self._buffer = {}
        database, self._database = self._database, None
        if database is None:
            return
        with suppress(apsw.Error), database:
            database.executemany(
                "INSERT OR REPLACE INTO query_cache (namespace, question, revision, answer, used)"
                " VALUES (?, ?, 0, ?, (SELECT coalesce(max(used), 0) + 1 FROM query_cache))",
                rows,
            )
            database.execute(
                "DELETE FROM query_cache WHERE rowid IN (SELECT rowid FROM query_cache"
                " ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self._rows,),
            )
        database.close()


class SqliteReader:
    """A `LibraryReader` over one snapshot, which begins with the first read after opening."""

    get_revision = forward(connection.get_revision)
    get_value = forward(connection.get_value)
    load_chunks = forward(chunks.load_chunks)
    find_named_documents = forward(fts.find_named_documents)
    list_similar_words = forward(fts.list_similar_words)
    get_document_frequencies = forward(fts.get_document_frequencies)
    find_committed_keys = forward(chunks.find_committed_keys)
    find_doc_numbers = forward(chunks.find_doc_numbers)

    def __init__(
        self,
        data_dir: Path,
        weights: fts.Weights = fts.EQUAL_WEIGHTS,
        on_close: "Callable[[SqliteReader], bool] | None" = None,
    ) -> None:
        """Open the database.

        `on_close` takes the closed reader back; when it returns False, the connection closes.

        Raises:
            NotIndexed: There is no database, or its schema is not the one of this build.
            IoError: The file system refused.
            StoreCorrupt: The file is not a database.
        """
        self.path = str(get_database_path(data_dir))
        self._weights = weights
        self._on_close = on_close
        self._file = self._identify_file()
        self._database = open_reader(data_dir)
        with ExitStack() as undo, translate_sqlite_errors(self.path, "read"):
            undo.callback(self._database.close)
            self._database.execute("BEGIN")
            undo.pop_all()

    @property
    def connection(self) -> apsw.Connection:
        """The connection of the snapshot, for the catalogue."""
        return self._database

    def is_current(self) -> bool:
        """Return whether the database is still the file that was opened.

        An import or a repair puts another one in its place, which SQLite does not notice.
        """
        return self._file is not None and self._identify_file() == self._file

    def _identify_file(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = os.stat(self.path)  # noqa: PTH116 - every search does it; `Path` takes longer
            return status.st_dev, status.st_ino
        return None

    def begin_snapshot(self) -> bool:
        """Begin a new snapshot after closing; return whether that was possible."""
        try:
            self._database.execute("BEGIN")
            self.__dict__.pop("_pending", None)
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

    def search_lexical(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        """Return chunks that match an FTS5 expression under bm25; scores are positive.

        Raises:
            InvalidInput: The expression is not one.
        """
        with translate_sqlite_errors(self.path, "read"):
            try:
                return fts.search(self._database, match, filters, self._weights, limit)
            except apsw.SQLError as error:
                raise InvalidInput(field="$.query", cause=str(error)) from error

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
            return self._pending

    @cached_property
    def _pending(self) -> int:
        return chunks.count_pending(self._database, connection.get_revision(self._database))

    def list_allowed_keys(self, filters: Filters) -> list[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""
        if not filters.is_active:
            return None
        sql, values = fts.build_chunk_key_query(filters)
        with translate_sqlite_errors(self.path, "read"):
            rows = self._database.execute(f"{sql} ORDER BY c.key", values)
            return [Key(key) for (key,) in rows]

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""
        with translate_sqlite_errors(self.path, "read"):
            rows = self._database.execute(
                "SELECT c.key, d.doc_id FROM chunks c JOIN documents d ON d.doc = c.doc"
                " WHERE c.key IN (SELECT value FROM json_each(?))",
                (fts.to_json(keys),),
            )
            return {Key(key): DocId(doc_id) for key, doc_id in rows}

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


class ReaderPool:
    """Reuses the connection of a closed reader of one data directory, on a new snapshot.

    A new connection reads the schema again and starts with an empty page cache. Only one thread may
    use the pool, and a closed reader must not be used.
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

    def acquire(self) -> SqliteReader:
        """Return a reader with its own snapshot; closing it returns it to the pool."""
        if self.is_current() and self._idle is not None and self._idle.begin_snapshot():
            reader, self._idle = self._idle, None
            return reader
        self.close()
        return self._build(self._data_dir, self._weights, self._take)

    def is_current(self) -> bool:
        """Return whether the idle reader, if there is one, can be used again."""
        return self._idle is None or self._idle.is_current()

    def close(self) -> None:
        """Close the idle reader; the next one is opened anew."""
        reader, self._idle = self._idle, None
        if reader is not None:
            reader.close_connection()

    def _take(self, reader: SqliteReader) -> bool:
        if self._idle is not None:
            return False
        self._idle = reader
        return True
