"""The truth as search sees it."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Self

import apsw

from kebab.core.chunk import KeyedScore, Passage
from kebab.core.hit import StoredChunk
from kebab.core.ids import DocId, Key
from kebab.core.query import Filters
from kebab.errors.catalog import InvalidInput
from kebab.store.sqlite import chunks, fts, state, vectors
from kebab.store.sqlite import filters as sql_filters
from kebab.store.sqlite.connection import database_path, open_reader
from kebab.store.sqlite.failures import translated


class SqliteReader:
    """A `LibraryReader` over one snapshot, taken at the first question after opening."""

    def __init__(self, data_dir: Path, weights: fts.Weights = fts.EVEN) -> None:
        """Open the database; `weights` are those of title, headings and body under bm25.

        Raises:
            NotIndexed: There is no database, or its schema is not the one of this build.
            IoError: The file system refused.
            StoreCorrupt: The file is not a database.
        """
        self.path = str(database_path(data_dir))
        self._weights = weights
        self._database = open_reader(data_dir)
        with ExitStack() as undo, self._reading():
            undo.callback(self._database.close)
            self._database.execute("BEGIN")
            undo.pop_all()

    @property
    def connection(self) -> apsw.Connection:
        """The connection that holds the snapshot, for the other readers of this package."""
        return self._database

    def close(self) -> None:
        """End the snapshot."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def revision(self) -> int:
        """Return the corpus revision of the snapshot."""
        with self._reading():
            return state.revision(self._database)

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name."""
        with self._reading():
            return state.get_value(self._database, name)

    def chunk_count(self) -> int:
        """Return how many chunks the snapshot holds."""
        with self._reading():
            # The narrow index of chunks is read, a quarter of what any table of them takes.
            return int(self._database.execute("SELECT count(*) FROM chunks").get)

    def lexical(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        """Return chunks that match an FTS5 expression under bm25; scores are positive.

        Raises:
            InvalidInput: The expression is not one.
        """
        with self._reading():
            try:
                return fts.search(self._database, match, filters, self._weights, limit)
            except apsw.SQLError as error:
                raise InvalidInput(field="$.query", cause=str(error)) from error

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs."""
        with self._reading():
            return fts.frequency(self._database, terms)

    def pending_count(self) -> int:
        """Return how many chunks of the snapshot lack a vector."""
        with self._reading():
            return vectors.count(self._database, "pending")

    def allowed(self, filters: Filters) -> list[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""
        if not filters.active:
            return None
        sql, values = sql_filters.chunk_keys(filters)
        with self._reading():
            rows = self._database.execute(f"{sql} ORDER BY c.key", values)
            return [Key(key) for (key,) in rows]

    def existing(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks the snapshot holds with a committed vector."""
        with self._reading():
            return vectors.committed_among(self._database, keys)

    def chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the chunks in the order of their keys; unknown keys are left out."""
        with self._reading():
            return chunks.read(self._database, keys)

    def owners(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""
        with self._reading():
            return chunks.owners(self._database, keys)

    def passages(self, filters: Filters) -> Iterator[Passage]:
        """Yield the chunks that pass the filters, document by document, each in its order."""
        with self._reading():
            yield from chunks.passages(self._database, filters)

    def _reading(self) -> AbstractContextManager[None]:
        return translated(self.path, "read")
