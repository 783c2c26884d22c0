"""Contains read-only access to the library for search, and a pool of such readers."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Self

import apsw

from kebab.core.chunks import ChunkText, KeyedScore
from kebab.core.ids import DocId, DocNumber, Key
from kebab.core.queries import Filters, StoredChunk
from kebab.errors.catalog import InvalidInput
from kebab.store.sqlite import chunks, fts, transaction, vector_state
from kebab.store.sqlite import filters as sql_filters
from kebab.store.sqlite.connection import (
    find_file_damage,
    get_database_path,
    get_expected_schema_version,
    get_file_identity,
    open_reader,
    read_schema_version,
)
from kebab.store.sqlite.errors import translate_sqlite_errors
from kebab.store.sqlite.fts import EQUAL_WEIGHTS, Weights
from kebab.store.sqlite.revision_cache import RevisionCache


class SqliteReader:
    """A `LibraryReader` over one snapshot, which begins with the first read after opening.

    Its cache serves later snapshots as long as the corpus revision stays the same.
    """

    def __init__(
        self,
        data_dir: Path,
        weights: fts.Weights = fts.EQUAL_WEIGHTS,
        on_close: "Callable[[SqliteReader], bool] | None" = None,
    ) -> None:
        """Open the database.

        Args:
            data_dir: The data directory.
            weights: The bm25 weights of title, headings and body.
            on_close: Takes the closed reader back; when it returns False, the connection closes.

        Raises:
            NotIndexed: There is no database, or its schema is not the one of this build.
            IoError: The file system refused.
            StoreCorrupt: The file is not a database.
        """
        self.path = str(get_database_path(data_dir))
        self._weights = weights
        self._on_close = on_close
        self._database = open_reader(data_dir)
        self._file = get_file_identity(self._database)
        self._cache: RevisionCache | None = None
        self._current = False
        with ExitStack() as undo, self._translate_errors():
            undo.callback(self._database.close)
            self._database.execute("BEGIN")
            undo.pop_all()

    @property
    def connection(self) -> apsw.Connection:
        """The connection of the snapshot, for the catalogue."""
        return self._database

    def begin_snapshot(self) -> bool:
        """Begin a new snapshot after closing; return False when the file is no longer the same."""
        try:
            if self._file is None or get_file_identity(self._database) != self._file:
                return False
            if find_file_damage(self._database):
                return False
            self._database.execute("BEGIN")
            self._current = False
            return read_schema_version(self._database) == get_expected_schema_version()
        except (apsw.Error, OSError):
            return False

    def close(self) -> None:
        """End the snapshot."""
        reused = self._on_close is not None and self._end_snapshot() and self._on_close(self)
        if not reused:
            self.close_connection()

    def _end_snapshot(self) -> bool:
        """End the snapshot; return whether another one can begin on this connection."""
        if self._file is None:
            return False
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

    def get_revision(self) -> int:
        """Return the corpus revision of the snapshot."""
        with self._translate_errors():
            return transaction.get_revision(self._database)

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name."""
        with self._translate_errors():
            return transaction.get_value(self._database, name)

    def count_chunks(self) -> int:
        """Return how many chunks the snapshot holds."""
        with self._translate_errors():
            # SQLite counts over a narrow index, a quarter of the size of any table of chunks.
            return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def search_lexical(
        self, match: str, filters: Filters, limit: int, plain: Sequence[str] = ()
    ) -> list[KeyedScore]:
        """Return chunks that match an FTS5 expression under bm25; scores are positive.

        Raises:
            InvalidInput: The expression is not one.
        """
        with self._translate_errors():
            if not plain or filters.is_active:
                return self._search_fts(match, filters, limit)
            return self._get_cache().postings.query(
                lambda postings: postings.search(plain, limit),
                lambda: self._search_fts(match, filters, limit),
            )

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs."""
        with self._translate_errors():
            return self._get_cache().get_document_frequencies(terms)

    def list_tokens(self, start: str) -> list[str]:
        """Return the tokens of the word index that begin with some letters."""
        with self._translate_errors():
            return fts.list_tokens(self._database, start)

    def count_pending(self) -> int:
        """Return how many chunks of the snapshot lack a vector."""
        with self._translate_errors():
            return self._get_cache().pending

    def list_allowed_keys(self, filters: Filters) -> list[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""
        if not filters.is_active:
            return None
        sql, values = sql_filters.build_chunk_key_query(filters)
        with self._translate_errors():
            rows = self._database.execute(f"{sql} ORDER BY c.key", values)
            return [Key(key) for (key,) in rows]

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks the snapshot holds with a committed vector."""
        with self._translate_errors():
            return self._get_cache().committed_keys.query(
                lambda table: table.find(keys),
                lambda: vector_state.find_committed_keys(self._database, keys),
            )

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the chunks in the order of their keys; unknown keys are left out."""
        with self._translate_errors():
            return chunks.load_chunks(self._database, keys)

    def load_first_chunks(self, doc_ids: Collection[DocId]) -> dict[DocId, StoredChunk]:
        """Return the first chunk of each document; unknown documents are left out."""
        with self._translate_errors():
            return chunks.load_first_chunks(self._database, doc_ids)

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""
        with self._translate_errors():
            return chunks.find_doc_ids(self._database, keys)

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return document numbers of this snapshot by chunk; unknown keys are left out."""
        with self._translate_errors():
            return self._get_cache().document_numbers.query(
                lambda table: table.find(keys),
                lambda: chunks.find_doc_numbers(self._database, keys),
            )

    def iterate_chunk_texts(self, filters: Filters) -> Iterator[ChunkText]:
        """Yield the chunks that pass the filters, document by document, each in its order."""
        with self._translate_errors():
            yield from chunks.iterate_chunk_texts(self._database, filters)

    def _search_fts(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        try:
            return fts.search(self._database, match, filters, self._weights, limit)
        except apsw.SQLError as error:
            raise InvalidInput(field="$.query", cause=str(error)) from error

    def _get_cache(self) -> RevisionCache:
        """Return the cache of the revision of this snapshot."""
        if self._cache is not None and self._current:
            return self._cache
        revision = transaction.get_revision(self._database)
        if self._cache is None or self._cache.revision != revision:
            self._cache = RevisionCache(self._database, self._weights, revision)
        self._current = True
        return self._cache

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_sqlite_errors(self.path, "read")


class ReaderPool:
    """Reuses the connection of a closed reader of one data directory, on a new snapshot.

    A new connection reads the schema again and starts with an empty page cache. Only one thread may
    use the pool, and a closed reader must not be used.
    """

    def __init__(self, data_dir: Path, weights: Weights = EQUAL_WEIGHTS) -> None:
        self._data_dir = data_dir
        self._weights = weights
        self._idle: SqliteReader | None = None

    def acquire(self) -> SqliteReader:
        """Return a reader with its own snapshot; closing it returns it to the pool."""
        reader, self._idle = self._idle, None
        if reader is not None:
            if reader.begin_snapshot():
                return reader
            reader.close_connection()
        return SqliteReader(self._data_dir, self._weights, self._take)

    def close(self) -> None:
        """Close the idle reader."""
        if self._idle is not None:
            self._idle.close_connection()
            self._idle = None

    def _take(self, reader: SqliteReader) -> bool:
        if self._idle is not None:
            return False
        self._idle = reader
        return True
