"""Contains read-only access to the library for search and to its known files, and a query cache."""

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

import apsw

from kebab.core import chunks
from kebab.core.chunks import DocId, DocNumber, Key, PassageHashes, Place
from kebab.core.documents import Extent, FileCounts, Source, is_cut
from kebab.core.queries import Filters, StoredChunk
from kebab.errors.catalog import NotIndexed
from kebab.store.sqlite import connection, fts
from kebab.store.sqlite.connection import (
    forward,
    get_database_path,
    open_reader,
    open_side_writer,
    translate_reads,
    translate_sqlite_errors,
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


def count_pending(database: apsw.Connection) -> int:
    """Return how many chunks lack a vector; the second condition selects the partial index."""
    sql = "SELECT count(*) FROM vectors WHERE state = 'pending' AND state <> 'committed'"
    return int(database.execute(sql).get)


_STORED = """
    SELECT c.key, c.chunk_id, d.doc_id, c.ordinal, c.text, c.start_line, c.end_line,
        c.heading_path, s.name, s.root, d.path, d.title, d.media, d.lang,
        (SELECT json_group_array(t.tag) FROM document_tags t WHERE t.doc = d.doc),
        d.size, d.mtime_ns, d.indexed_at, d.chunker_version,
        CASE v.state WHEN 'committed' THEN v.version END, v.state,
        c.context, c.place, coalesce(d.date_ns, d.mtime_ns)
    FROM chunks c
    JOIN documents d ON d.doc = c.doc
    JOIN sources s ON s.source = d.source
    JOIN vectors v ON v.key = c.key
"""


def _load(database: apsw.Connection, where: str, value: str) -> list[StoredChunk]:
    """Return chunks; a row has the first fields of `StoredChunk` in order, and the moment."""
    return [
        StoredChunk(*row[:23])._replace(
            heading_path=fts.parse_strings(row[7]),
            tags=fts.parse_strings(row[14]),
            place=Place(*json.loads(row[22])) if row[22] else None,
            moment_ns=row[23],
        )
        for row in database.execute(f"{_STORED} WHERE {where}", (value,))
    ]


_MOST_AROUND = 200
"""How many chunks on each side of one `list_extents` returns."""


@translate_reads
class SqliteReader(AbstractContextManager["SqliteReader"]):
    """A `SqliteReader` over one snapshot, which begins with the first read after opening."""

    get_revision = forward(connection.get_revision)
    get_value = forward(connection.get_value)
    search_lexical = forward(fts.search)
    find_named_documents = forward(fts.find_named_documents)
    list_similar_words = forward(fts.list_similar_words)
    get_document_frequencies = forward(fts.get_document_frequencies)
    find_omitted = forward(fts.find_omitted)
    count_pending = forward(count_pending)

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

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return chunks in the order of their keys; unknown keys are left out."""
        found = _load(self.database, "c.key IN (SELECT value FROM json_each(?))", fts.to_json(keys))
        by_key = {chunk.key: chunk for chunk in found}
        return [by_key[key] for key in keys if key in by_key]

    def load_document_chunks(self, doc_id: DocId) -> list[StoredChunk]:
        """Return the chunks of a document in order."""
        return _load(self.database, "d.doc_id = ? ORDER BY c.ordinal", doc_id)

    def list_extents(self, key: Key) -> list[chunks.Extent]:
        """Return a chunk with those around it in its document, in order."""
        rows = self.database.execute(
            "SELECT n.key, n.start_line, n.end_line, n.heading_path FROM chunks c JOIN chunks n"
            " ON n.doc = c.doc AND n.ordinal BETWEEN c.ordinal - ?2 AND c.ordinal + ?2"
            " WHERE c.key = ?1 ORDER BY n.ordinal",
            (key, _MOST_AROUND),
        )
        return [chunks.Extent(row[0], row[1], row[2], fts.parse_strings(row[3])) for row in rows]

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks have a stored vector."""
        rows = self.database.execute(
            "SELECT key FROM vectors"
            " WHERE key IN (SELECT value FROM json_each(?)) AND state = 'committed'",
            (fts.to_json(keys),),
        )
        return {Key(key) for (key,) in rows}

    def find_shared_keys(self, keys: Collection[Key], documents: int) -> set[Key]:
        """Return which of these chunks have the text of chunks of at least so many documents."""
        rows = self.database.execute(
            "SELECT c.key FROM chunks c WHERE c.key IN (SELECT value FROM json_each(?))"
            " AND ? <= (SELECT count(DISTINCT o.doc) FROM chunks o WHERE o.text_hash = c.text_hash"
            " AND substr(o.text_hash, 1, 8) = substr(c.text_hash, 1, 8))",
            (fts.to_json(keys), documents),
        )
        return {Key(key) for (key,) in rows}

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the row number of the document of chunks; unknown keys are left out."""
        sql = "SELECT key, doc FROM chunks WHERE key IN (SELECT value FROM json_each(?))"
        return dict(self.database.execute(sql, (fts.to_json(keys),)))

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


_IS_READ = (
    " AND NOT EXISTS (SELECT 1 FROM unread_files u"
    " WHERE u.source = documents.source AND u.path = documents.path)"
)
FileTable: TypeAlias = Literal["documents", "unread_files"]


@translate_reads
class KnownFiles:
    """Reads what is known of files in the snapshot of a reader, which the caller closes."""

    def __init__(self, reader: SqliteReader) -> None:
        self.database = reader.database
        self.path = reader.path

    def list_extents(self) -> list[Extent]:
        """Return all sources by name."""
        rows = self.database.execute(
            "SELECT source, name, root, kind, listed_rules FROM sources ORDER BY name"
        )
        return [
            Extent(number, Source(name=name, root=root, kind=kind), rules)
            for number, name, root, kind, rules in rows
        ]

    def find_document_place(self, doc_id: str) -> tuple[int, str] | None:
        """Return the number of the source and the path of a document."""
        sql = "SELECT source, path FROM documents WHERE doc_id = ?"
        row = self.database.execute(sql, (doc_id,)).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def count_files(self, extent: Extent) -> FileCounts:
        """Return the numbers of the files of an extent."""
        documents = self._select("count(*)", "documents", extent)
        unread = self._select(
            "count(*) - count(reason), count(reason), coalesce(sum(indexed), 0)",
            "unread_files",
            extent,
        )
        return FileCounts(*next(documents), *next(unread))

    def holds(self, extent: Extent) -> bool:
        """Return whether any document or listed folder is in an extent."""
        tables = ("listed_folders", "documents")
        return any(next(self._select("1", table, extent, " LIMIT 1"), None) for table in tables)

    def list_unread(self, extent: Extent) -> dict[str, str | None]:
        """Return the unread files of an extent, with the reason of those that failed."""
        return dict(self._select("path, reason", "unread_files", extent))

    def list_in(self, table: FileTable, extent: Extent, folder: str) -> set[str]:
        """Return the documents or unread files directly in a folder of the source of an extent."""
        where, values = fts.match_directly_in(folder)
        sql = f"SELECT path FROM {table} WHERE source = ? AND {where}"  # noqa: S608 - constants
        return {path for (path,) in self.database.execute(sql, (extent.number, *values))}

    def iterate_documents(self, extent: Extent) -> Iterator[tuple[str, int, int]]:
        """Yield path, size and time of the documents of an extent whose file is not unread."""
        yield from self._select("path, size, mtime_ns", "documents", extent, _IS_READ)

    def find_content_hash(self, extent: Extent, path: str) -> str:
        """Return the hash of the content that a document was read from."""
        sql = (
            "SELECT content_hash FROM documents JOIN assets USING (asset)"
            " WHERE source = ? AND path = ?"
        )
        return str(self.database.execute(sql, (extent.number, path)).get)

    def list_folders(self, extent: Extent) -> dict[str, int]:
        """Return the time of each listed folder and ignore file of an extent."""
        return dict(self._select("path, mtime_ns", "listed_folders", extent))

    def list_partial(self, extent: Extent) -> list[tuple[str, str]]:
        """Return the read documents that are searched in part: their paths, and what is cut."""
        rows = self._select("path, warnings", "documents", extent, f" AND partial{_IS_READ}")
        return [(path, "; ".join(filter(is_cut, fts.parse_strings(said)))) for path, said in rows]

    def list_omissions(self, extent: Extent) -> list[tuple[str, int, int]]:
        """Return what is in no passage of the documents: of how many, and how many words."""
        rows = self._select(
            "reason, count(*), sum(words)",
            "document_omissions JOIN documents USING (doc)",
            extent,
            " GROUP BY reason",
        )
        return [(str(reason), int(count), int(words)) for reason, count, words in rows]

    def count_pending(self, extents: Iterable[Extent]) -> int:
        """Return how many chunks of these extents lack a vector."""
        joined = "documents JOIN chunks USING (doc) JOIN vectors USING (key)"
        # The second condition lets SQLite use the index of open states.
        waiting = " AND state = 'pending' AND state <> 'committed'"
        return sum(next(self._select("count(*)", joined, one, waiting))[0] for one in extents)

    def _select(
        self, columns: str, table: str, extent: Extent, condition: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        where, values = fts.match_below(extent.below)
        sql = f"SELECT {columns} FROM {table} WHERE source = ? AND {where}{condition}"  # noqa: S608 - constants
        with translate_sqlite_errors(self.path, "read"):
            yield from self.database.execute(sql, (extent.number, *values))
