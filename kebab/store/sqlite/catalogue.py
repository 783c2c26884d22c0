"""Contains read access for browsing: lists, details, counts, values of filters, and damage."""

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw

from kebab.core.chunks import ChunkId, DocId, Key
from kebab.core.documents import (
    AmbiguousName,
    ChunkDetail,
    DocumentDetail,
    DocumentListing,
    DocumentName,
    DocumentOrder,
    LibraryCounts,
    Link,
    LinkTarget,
    OmittedWords,
    Source,
    SourceCounts,
    StoredDocument,
)
from kebab.core.queries import Filters
from kebab.store.sqlite import chunks, documents, fts
from kebab.store.sqlite.connection import create_schema, forward, translate_reads
from kebab.store.sqlite.fts import parse_strings, to_json
from kebab.store.sqlite.reader import SqliteReader


def find_file_faults(database: apsw.Connection, below: str = "") -> list[str]:
    """Return the faults of the file and the schema as phrases; `below` names the migrations."""
    rows = database.execute("PRAGMA integrity_check(10)")
    faults = [str(text) for (text,) in rows if text != "ok"]
    expected, found = read_objects(create_schema(below)), read_objects(database)
    if missing := sorted(expected.keys() - found.keys()):
        faults.append(f"missing tables or indexes: {', '.join(missing)}")
    if changed := sorted(name for name, sql in expected.items() if found.get(name, sql) != sql):
        faults.append(f"changed tables or indexes: {', '.join(changed)}")
    return faults


def read_objects(database: apsw.Connection) -> dict[str, str]:
    """Return the SQL of every table, index, view and trigger by its name."""
    rows = database.execute("SELECT name, coalesce(sql, '') FROM sqlite_schema")
    return {str(name): str(sql) for name, sql in rows}


_COUNTS: Mapping[str, str] = {
    "path_glob": "WITH RECURSIVE folders(path, slash) AS (SELECT d.path, instr(d.path, '/')"
    " FROM documents d WHERE {} UNION ALL"
    " SELECT path, slash + instr(substr(path, slash + 1), '/') FROM folders"
    " WHERE slash AND instr(substr(path, slash + 1), '/'))"
    " SELECT substr(path, 1, slash - 1), count(*) FROM folders"
    " WHERE slash AND NOT instr(substr(path, 1, slash), '!/')",
    "source": "SELECT s.name, count(*) FROM documents d JOIN sources s ON s.source = d.source"
    " WHERE {}",
    "media": "SELECT d.media, count(*) FROM documents d WHERE {}",
    "tag": "SELECT t.tag, count(*) FROM documents d JOIN document_tags t ON t.doc = d.doc WHERE {}",
    "author": "SELECT a.author, count(*) FROM documents d"
    " JOIN document_authors a ON a.doc = d.doc WHERE {}",
    "lang": "SELECT d.lang, count(*) FROM documents d WHERE d.lang IS NOT NULL AND {}",
    "month": "SELECT strftime('%Y-%m', coalesce(date_ns, mtime_ns) / 1e9, 'unixepoch'), count(*)"
    " FROM documents d WHERE {}",
    "property": "SELECT p.key || '=' || p.value, count(*) FROM documents d"
    " JOIN document_properties p ON p.doc = d.doc WHERE length(p.value) < 60"
    " AND p.key NOT IN ('title', 'tags', 'aliases', 'date') AND {}",
}
"""The query that counts the documents of each value of a filter; `{}` is the condition."""
_MOST_COUNTED = 1_000

_SUMMARY = """
    SELECT d.doc_id, s.name, s.root, d.path, d.title, d.media, d.lang,
        (SELECT json_group_array(t.tag) FROM document_tags t WHERE t.doc = d.doc),
        d.size, d.mtime_ns, d.indexed_at,
        (SELECT count(*) FROM chunks c WHERE c.doc = d.doc), d.warnings, d.date,
        (SELECT json_group_array(w.author) FROM document_authors w WHERE w.doc = d.doc),
        (SELECT json_group_array(n.alias) FROM document_aliases n WHERE n.doc = d.doc),
        a.content_hash, d.recipe, d.parser_version, d.chunker_version
    FROM documents d JOIN sources s ON s.source = d.source JOIN assets a ON a.asset = d.asset
"""
_ORDERS = {
    "title": "lower_text(d.title)",
    "date": "-coalesce(d.date_ns, d.mtime_ns)",
    "modified": "-d.mtime_ns",
    "indexed": "-d.indexed_at",
    "size": "-d.size",
    "passages": "-(SELECT count(*) FROM chunks c WHERE c.doc = d.doc)",
}

_MAX_CANDIDATES = 20
_MAX_LIMIT = 2**63 - 1
"""The largest integer of SQLite, and so the largest limit."""


@translate_reads
class Catalogue:
    """Reads documents, their passages and links, the values of filters, and what is wrong.

    The caller closes the reader, whose snapshot it is.
    """

    measure_languages = forward(documents.measure_languages)
    sample_files = forward(documents.sample_files)
    list_committed_keys = forward(chunks.list_committed_keys)
    list_sources = forward(documents.list_sources)
    find_word_fault = forward(chunks.find_word_fault)

    def __init__(self, reader: SqliteReader) -> None:
        self._reader = reader
        self.database, self.path = reader.database, reader.path

    def count_documents(self, filters: Filters) -> int:
        """Return how many documents pass the filters."""
        where, values = fts.build_condition(filters)
        sql = f"SELECT count(*) FROM documents d WHERE {where}"  # noqa: S608 - values are bound
        return int(self.database.execute(sql, values).get)

    def count_values(self, filters: Filters) -> dict[str, dict[str, int]]:
        """Return the values of each filter with their numbers of documents, the largest first.

        For the values of one filter all others hold.
        """
        found = {}
        for name, query in _COUNTS.items():
            own = ("since", "until") if name == "month" else (name,)
            empty: dict[str, Any] = {one: getattr(Filters(), one) for one in own}
            where, values = fts.build_condition(replace(filters, **empty))
            counted = query.format(f"({where})")
            rows = self.database.execute(
                f"{counted} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MOST_COUNTED}",
                values,
            )
            found[name] = {str(value): int(count) for value, count in rows}
        return found

    def list_values(self, name: str) -> list[str]:
        """Return the existing values of a filter, none for one whose values are not listed."""
        query = "SELECT d.path FROM documents d ORDER BY d.path"
        if name in _COUNTS and name != "path_glob":
            query = f"{_COUNTS[name].format(1)} GROUP BY 1 ORDER BY count(*) DESC, 1"
        elif name != "path_glob":
            return []
        return [str(value) for value, *_ in self.database.execute(query)]

    def count_sources(self) -> list[SourceCounts]:
        """Return the registered sources by name, with the numbers of their documents."""
        rows = self.database.execute(
            "SELECT s.name, s.root, s.kind, count(d.doc),"
            " (SELECT count(*) FROM chunks c JOIN documents o ON o.doc = c.doc"
            " WHERE o.source = s.source), max(d.indexed_at)"
            " FROM sources s LEFT JOIN documents d ON d.source = s.source"
            " GROUP BY s.source ORDER BY s.name"
        )
        return [
            SourceCounts(Source(name=name, root=root, kind=kind), *counts)
            for name, root, kind, *counts in rows
        ]

    def get_time_range(self) -> tuple[float, float] | None:
        """Return the oldest and the newest date, in seconds; None without documents."""
        found: tuple[float, float] | None = self.database.execute(
            "SELECT min(moment) / 1e9, max(moment) / 1e9"
            " FROM (SELECT coalesce(date_ns, mtime_ns) AS moment FROM documents)"
            " HAVING count(*)"
        ).fetchone()
        return found

    def list_documents(
        self,
        filters: Filters,
        limit: int = 100,
        offset: int = 0,
        order: DocumentOrder = DocumentOrder(),  # noqa: B008 - immutable
    ) -> DocumentListing:
        """Return a slice of the documents that pass the filters, in an order."""
        where, values = fts.build_condition(filters)
        direction = " DESC" if order.reverse else ""
        fields = [_ORDERS[order.field]] if order.field in _ORDERS else []
        # Equal documents are by source and path.
        ordered = ", ".join(f"{field}{direction}" for field in (*fields, "s.name", "d.path"))
        rows = self.database.execute(
            f"{_SUMMARY} WHERE {where} ORDER BY {ordered} LIMIT ? OFFSET ?",
            [*values, min(limit, _MAX_LIMIT), min(offset, _MAX_LIMIT)],
        )
        documents = tuple(_build_summary(row) for row in rows)
        return DocumentListing(documents=documents, total=self.count_documents(filters))

    def resolve_document(
        self, reference: str, *, paths: bool = True, prefix: bool = True
    ) -> DocId | AmbiguousName | None:
        """Return the document that an id, a path, or the start of an id refers to.

        A path is relative to its source, or absolute.
        """
        by_path = (
            "SELECT d.doc_id FROM documents d JOIN sources s ON s.source = d.source"
            " WHERE ?1 IN (d.path, rtrim(s.root, '/') || '/' || d.path) ORDER BY d.doc_id LIMIT ?2"
        )
        others = [by_path] if paths else []
        resolved = self._resolve("documents", "doc_id", reference, *others, prefix=prefix)
        return DocId(resolved) if isinstance(resolved, str) else resolved

    def resolve_chunk(
        self, reference: str, *, prefix: bool = True
    ) -> ChunkId | AmbiguousName | None:
        """Return the chunk that an id, or with `prefix` the start of an id refers to."""
        resolved = self._resolve("chunks", "chunk_id", reference, prefix=prefix)
        return ChunkId(resolved) if isinstance(resolved, str) else resolved

    def list_names(self) -> list[DocumentName]:
        """Return the id, the source and the path of every document, by source and path."""
        rows = self.database.execute(
            "SELECT d.doc_id, s.name, s.root, d.path FROM documents d"
            " JOIN sources s ON s.source = d.source ORDER BY s.name, d.path"
        )
        return [DocumentName(*row) for row in rows]

    def find_named(self, name: str) -> list[DocumentName]:
        """Return the documents with a name, but for blanks, marks and case, by source and path.

        The name of a file goes before titles and aliases. A name with a slash is a path.
        """
        from kebab.text.names import join_name, read_names  # a list needs no tokenizer

        joined = "" if "/" in name else join_name(name)
        rows = self.database.execute(
            f"SELECT d.doc_id, s.name, s.root, d.path, d.title, {fts.ALIASES}"  # noqa: S608 - a constant
            " FROM document_names n JOIN documents d ON d.doc = n.doc"
            " JOIN sources s ON s.source = d.source WHERE n.token = ? ORDER BY s.name, d.path",
            (joined,),
        )
        named = [
            (read_names(*row[3:5], parse_strings(row[5])).joined.get(joined, 0.0), row[:4])
            for row in rows
        ]
        best = max((rating for rating, _ in named), default=0.0)
        return [DocumentName(*found) for rating, found in named if rating == best > 0]

    def list_link_targets(self) -> list[LinkTarget]:
        """Return the names of every document by which links may call it."""
        rows = self.database.execute(
            f"SELECT d.doc_id, s.name, d.path, d.title, {fts.ALIASES}"  # noqa: S608 - a constant
            " FROM documents d JOIN sources s ON s.source = d.source"
        )
        return [LinkTarget._make((*row[:4], parse_strings(row[4]))) for row in rows]

    def list_links(
        self, doc_id: DocId | None = None, keys: Collection[str] | None = None
    ) -> list[Link]:
        """Return the links of a document, or those that have one of some keys, or all of them.

        They are by source, path and target.
        """
        where, values = "1", list[str]()
        if doc_id is not None:
            where, values = "d.doc_id = ?", [doc_id]
        elif keys is not None:
            where, values = "l.key IN (SELECT value FROM json_each(?))", [to_json(keys)]
        rows = self.database.execute(
            "SELECT d.doc_id, s.name, d.path, l.target FROM document_links l"  # noqa: S608 - constants
            " JOIN documents d ON d.doc = l.doc JOIN sources s ON s.source = d.source"
            f" WHERE {where} ORDER BY s.name, d.path, l.target",
            values,
        )
        return [Link._make(row) for row in rows]

    def find_headings(self, doc_id: DocId, indexes: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Return the headings of the lines of a document that a chunk has, by line from 1.

        The indexes of the lines count from 0 and are in order.
        """
        found: dict[int, tuple[str, ...]] = {}
        rows = self.database.execute(
            "SELECT start_line, end_line, heading_path FROM chunks"
            " WHERE doc = (SELECT doc FROM documents WHERE doc_id = ?)"
            " AND start_line <= ? AND end_line > ? ORDER BY ordinal DESC",
            (doc_id, indexes[-1] + 1, indexes[0]),
        )
        for first, last, path in rows:
            within = indexes[bisect_left(indexes, first - 1) : bisect_left(indexes, last)]
            if within:
                found |= dict.fromkeys((index + 1 for index in within), parse_strings(path))
        return found

    def _resolve(
        self, table: str, column: str, reference: str, *others: str, prefix: bool = True
    ) -> str | AmbiguousName | None:
        """Return the id that equals a reference, that another query finds, or that starts so."""
        select = f"SELECT {column} FROM {table} WHERE {column}"  # noqa: S608 - fixed names
        order = f"ORDER BY {column} LIMIT ?2"
        queries = [(f"{select} = ?1 {order}", reference.lower())]
        queries += [(sql, reference) for sql in others]
        if prefix and reference and {*reference.lower()} <= {*"0123456789abcdef"}:
            starts = f"{select} >= ?1 AND {column} < ?1 || 'g' {order}"
            queries.append((starts, reference.lower()))
        for sql, value in queries:
            rows = self.database.execute(sql, (value, _MAX_CANDIDATES)).fetchall()
            if len(rows) == 1:
                return str(rows[0][0])
            if rows:
                return AmbiguousName(tuple(str(candidate) for (candidate,) in rows))
        return None

    def load_summary(self, doc_id: DocId) -> StoredDocument | None:
        """Return a document as in a list."""
        rows = self.database.execute(f"{_SUMMARY} WHERE d.doc_id = ?", (doc_id,))
        return next(map(_build_summary, rows), None)

    def load_document(self, doc_id: DocId) -> DocumentDetail | None:
        """Return a document with its chunks."""
        row = self.database.execute(f"{_SUMMARY} WHERE d.doc_id = ?", (doc_id,)).fetchone()
        if row is None:
            return None
        omissions = self.database.execute(
            "SELECT reason, words FROM document_omissions JOIN documents USING (doc)"
            " WHERE doc_id = ? ORDER BY words DESC, reason",
            (doc_id,),
        )
        found = tuple(self._reader.load_document_chunks(doc_id))
        left_out = tuple(OmittedWords(*one) for one in omissions)
        return DocumentDetail._make((_build_summary(row), *row[16:], found, left_out))

    def load_chunk(self, chunk_id: ChunkId) -> ChunkDetail | None:
        """Return a chunk with its neighbours in its document."""
        row = self.database.execute(
            "SELECT c.key, c.text_hash,"
            " (SELECT p.chunk_id FROM chunks p WHERE p.doc = c.doc AND p.ordinal < c.ordinal"
            " ORDER BY p.ordinal DESC LIMIT 1),"
            " (SELECT n.chunk_id FROM chunks n WHERE n.doc = c.doc AND n.ordinal > c.ordinal"
            " ORDER BY n.ordinal LIMIT 1)"
            " FROM chunks c WHERE c.chunk_id = ?",
            (chunk_id,),
        ).fetchone()
        if row is None:
            return None
        key, text_hash, previous, following = row
        chunk = self._reader.load_chunks([Key(key)])[0]
        return ChunkDetail(chunk, text_hash, previous, following)

    def count_contents(self) -> LibraryCounts:
        """Return the size of the library and how far its vectors are."""
        states = self._count_by("SELECT state, count(*) FROM vectors GROUP BY state")
        media = self._count_by("SELECT media, count(*) FROM documents GROUP BY 1 ORDER BY 1")
        lang = self._count_by(
            "SELECT coalesce(lang, ''), count(*) FROM documents GROUP BY 1 ORDER BY 1"
        )
        return LibraryCounts(
            documents=sum(media.values()),
            chunks=sum(states.values()),
            assets=self.database.execute("SELECT count(*) FROM assets").get,
            pending=states.get("pending", 0),
            last_change=self.database.execute(
                "SELECT max(finished) FROM runs WHERE changed > 0"
            ).get,
            media=media,
            lang=lang,
        )

    def _count_by(self, sql: str) -> dict[str, int]:
        return {str(name): int(count) for name, count in self.database.execute(sql)}

    def find_damage(self) -> list[str]:
        """Return the faults of the file, the schema and the references, one phrase each."""
        if faults := find_file_faults(self.database):
            return faults
        broken = self._count_by('SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1')
        return [f"rows of {one} that refer to nothing: {n:,}" for one, n in broken.items()]


def _build_summary(row: tuple[Any, ...]) -> StoredDocument:
    """Return a document from a row that begins with the fields of `StoredDocument` in order."""
    return StoredDocument._make(row[:16])._replace(
        tags=parse_strings(row[7]),
        warnings=parse_strings(row[12]),
        authors=parse_strings(row[14]),
        aliases=parse_strings(row[15]),
    )
