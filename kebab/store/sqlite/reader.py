"""Contains read-only access to the library for search, and a query cache."""

import sys
from collections.abc import Collection
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import apsw

from kebab.core.chunks import DocId, Key, PassageHashes
from kebab.core.queries import Filters
from kebab.errors.catalog import NotIndexed
from kebab.store.sqlite import chunks, connection, fts
from kebab.store.sqlite.connection import (
    forward,
    get_database_path,
    open_reader,
    open_side_writer,
    translate_reads,
)

_ROWS = 512


class QueryCache:
    """Small answers by namespace and question; the oldest are evicted.

    No method fails or waits: with a busy, missing or read-only database, answers are not cached.
    """

    def __init__(self, data_dir: Path, rows: int = _ROWS) -> None:
        self._data_dir = data_dir
        self._rows = rows

    def get(self, namespace: str, question: str) -> bytes | None:
        """Return the cached answer, or None."""
        sql = "SELECT answer FROM query_cache WHERE namespace = ? AND question = ?"
        with (
            suppress(apsw.Error, NotIndexed, UnicodeDecodeError),
            open_side_writer(self._data_dir, 0) as database,
        ):
            answer: bytes | None = database.execute(sql, (namespace, question)).get
            return answer
        return None

    def put(self, namespace: str, question: str, answer: bytes) -> None:
        """Cache an answer if that is possible at once."""
        with (
            suppress(apsw.Error, NotIndexed),
            open_side_writer(self._data_dir, 0) as database,
            database,
        ):
            database.execute(
                "INSERT OR REPLACE INTO query_cache (namespace, question, revision, answer, used)"
                " VALUES (?, ?, 0, ?, 0)",
                (namespace, question, answer),
            )
            database.execute(
                "DELETE FROM query_cache WHERE rowid IN (SELECT rowid FROM query_cache"
                " ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
                (self._rows,),
            )


@translate_reads
class SqliteReader(AbstractContextManager["SqliteReader"]):
    """A `SqliteReader` over one snapshot, which begins with the first read after opening."""

    get_revision = forward(connection.get_revision)
    get_value = forward(connection.get_value)
    load_chunks = forward(chunks.load_chunks)
    list_extents = forward(chunks.list_extents)
    search_lexical = forward(fts.search)
    find_named_documents = forward(fts.find_named_documents)
    list_similar_words = forward(fts.list_similar_words)
    get_document_frequencies = forward(fts.get_document_frequencies)
    find_omitted = forward(fts.find_omitted)
    count_pending = forward(chunks.count_pending)
    find_committed_keys = forward(chunks.find_committed_keys)
    find_shared_keys = forward(chunks.find_shared_keys)
    find_doc_numbers = forward(chunks.find_doc_numbers)

    def __init__(self, data_dir: Path) -> None:
        """Open the database as `open_reader` does."""
        self.path = str(get_database_path(data_dir))
        self.database = open_reader(data_dir)

    def close(self) -> None:
        """End the snapshot."""
        self.database.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def count_chunks(self) -> int:
        """Return how many chunks the snapshot holds."""
        # SQLite counts over a narrow index, a quarter of the size of any table of chunks.
        return int(self.database.execute("SELECT count(*) FROM chunks").get)

    def list_tokens(self, start: str) -> list[str]:
        """Return the tokens of the word index that begin with some letters."""
        low = start.translate(fts.ASCII_LOWER)
        return self._list_terms("term >= ? AND term < ?", low, low + chr(sys.maxunicode))

    def list_tokens_around(self, part: str) -> list[str]:
        """Return the tokens of the word index that hold some letters behind their first one."""
        return self._list_terms("instr(term, ?) > 1", part.translate(fts.ASCII_LOWER))

    def _list_terms(self, where: str, *values: str) -> list[str]:
        rows = self.database.execute(f"SELECT term FROM chunks_terms WHERE {where}", values)  # noqa: S608 - constants
        return [str(term) for (term,) in rows]

    def list_allowed_keys(self, filters: Filters) -> list[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""
        if not filters.is_active:
            return None
        sql, values = fts.build_chunk_key_query(filters)
        rows = self.database.execute(f"{sql} ORDER BY c.key", values)
        return [Key(key) for (key,) in rows]

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""
        sql = (
            "SELECT c.key, d.doc_id FROM chunks c JOIN documents d ON d.doc = c.doc"
            " WHERE c.key IN (SELECT value FROM json_each(?))"
        )
        return dict(self.database.execute(sql, (fts.to_json(keys),)))

    def list_passages(self, filters: Filters) -> PassageHashes:
        """Return the chunks that pass the filters, document by document, each in its order."""
        where, values = fts.build_condition(filters)
        rows = self.database.execute(
            "SELECT c.key, d.doc, a.content_hash, c.text_hash FROM documents d"  # noqa: S608 - values are bound
            " CROSS JOIN assets a ON a.asset = d.asset CROSS JOIN chunks c ON c.doc = d.doc"
            f" WHERE c.text <> '' AND ({where}) ORDER BY d.source, d.path, c.ordinal",
            values,
        )
        found: list[Any] = rows.fetchall()
        return PassageHashes(*([row[column] for row in found] for column in range(4)))

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        """Return the texts of chunks; unknown keys are left out."""
        sql = "SELECT key, text FROM chunks WHERE key IN (SELECT value FROM json_each(?))"
        return dict(self.database.execute(sql, (fts.to_json(keys),)))
