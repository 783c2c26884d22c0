"""Contains documents, what they share, and the other known files: unread ones, and folders.

The plan of a run is stored before its files are read. A row leaves it with the transaction that
stores the document, so that after a kill the rest is what was not read.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from sys import intern
from typing import Any, Literal, TypeAlias

import apsw

from kebab.core.chunks import DocId, Key
from kebab.core.documents import (
    DocumentRow,
    Extent,
    FileCounts,
    FileStamp,
    KnownDocument,
    Listing,
    Source,
    is_cut,
    is_partial,
)
from kebab.core.files import MEMBER_MARK, FileState
from kebab.store.sqlite import fts
from kebab.store.sqlite.connection import translate_reads, translate_sqlite_errors
from kebab.store.sqlite.fts import clamp_to_signed, parse_strings, to_json, to_nanoseconds
from kebab.store.sqlite.reader import SqliteReader

_INODES = 1 << 64
"""Inodes have no sign, integers of SQLite do; some file systems use all bits."""


def load_known_documents(
    database: apsw.Connection, source: str, at: Collection[str] | None = None
) -> dict[str, KnownDocument]:
    """Return the documents of a source by path: all, or those at some paths and below them."""
    known: dict[str, KnownDocument] = {}
    for below in [""] if at is None else at:
        where, values = match_below(below, "d.path")
        rows = database.execute(
            "SELECT d.doc_id, d.path, d.size, d.mtime_ns, d.inode, a.content_hash, d.recipe,"  # noqa: S608 - constants
            " d.title FROM documents d JOIN assets a ON a.asset = d.asset"
            f" JOIN sources s ON s.source = d.source WHERE s.name = ? AND {where}",
            (source, *values),
        )
        for doc_id, path, size, mtime_ns, inode, content_hash, recipe, title in rows:
            known[path] = KnownDocument(
                doc_id=DocId(doc_id),
                path=path,
                size=size,
                mtime_ns=mtime_ns,
                inode=inode % _INODES,
                content_hash=content_hash,
                recipe=intern(recipe),
                title=title,
            )
    return known


def list_sources(database: apsw.Connection) -> list[Source]:
    """Return the registered sources by name."""
    rows = database.execute("SELECT name, root, kind FROM sources ORDER BY name")
    return [Source(name=name, root=root, kind=kind) for name, root, kind in rows]


def has_document(database: apsw.Connection, doc_id: DocId) -> bool:
    """Return whether a document has this id."""
    sql = "SELECT EXISTS (SELECT 1 FROM documents WHERE doc_id = ?)"
    return bool(database.execute(sql, (doc_id,)).get)


SOURCE = "(SELECT source FROM sources WHERE name = ?)"
"""Selects the number of a source."""

_COLUMNS = (
    *("path", "asset", "title", "media", "lang", "size", "mtime_ns", "inode", "recipe"),
    *("parser_version", "chunker_version", "indexed_at", "warnings", "date", "date_ns"),
    "partial",
)
_SAVE = (
    f"INSERT INTO documents (doc_id, source, {', '.join(_COLUMNS)})"  # noqa: S608 - constants
    f" VALUES (?, {SOURCE}{', ?' * len(_COLUMNS)}) ON CONFLICT (doc_id) DO UPDATE SET"
    f" {', '.join(f'{name} = excluded.{name}' for name in ('source', *_COLUMNS))} RETURNING doc"
)


def save_document(database: apsw.Connection, row: DocumentRow, now: float) -> tuple[int, bool]:
    """Store a document without its chunks.

    Return the number of its row, and whether its passages get words of other names than before.
    """
    from kebab.text.names import list_title_texts  # a reader needs none

    before = database.execute(
        f"SELECT d.title, d.asset, d.path, {fts.ALIASES} FROM documents d WHERE d.doc_id = ?",  # noqa: S608 - a constant
        (row.doc_id,),
    ).fetchone()
    asset = int(
        database.execute(
            "INSERT INTO assets (content_hash, size) VALUES (?, ?)"
            " ON CONFLICT (content_hash) DO UPDATE SET size = excluded.size RETURNING asset",
            (row.content_hash, clamp_to_signed(row.stamp.size)),
        ).get
    )
    values = (
        *(row.doc_id, row.source, row.path, asset, row.title, row.media, row.lang),
        *to_columns(row.stamp),
        *(row.recipe, row.parser_version, row.chunker_version, now, to_json(row.warnings)),
        *(row.date, to_nanoseconds(row.date), is_partial(row.warnings)),
    )
    doc = int(database.execute(_SAVE, values).get)
    _replace_metadata(database, doc, row)
    fts.save_omissions(database, doc, row.omissions)
    is_same = (
        before is not None
        and before[0] == row.title
        and {*parse_strings(before[3])} == {*row.aliases}
        and list_title_texts(row.title, before[2]) == list_title_texts(row.title, row.path)
    )
    if before is None or not is_same or before[2] != row.path:
        fts.write_names(database, doc, row.path, row.title, row.aliases)
    if before is None:
        return doc, False
    if before[1] != asset:
        _delete_unused_assets(database, [before[1]])
    return doc, not is_same


def to_columns(stamp: FileStamp) -> tuple[int, int, int]:
    """Return the columns of the stamp of a file: size, time and inode."""
    inode = stamp.inode if stamp.inode < _INODES // 2 else stamp.inode - _INODES
    return clamp_to_signed(stamp.size), clamp_to_signed(stamp.mtime_ns), inode


def _replace_metadata(database: apsw.Connection, doc: int, row: DocumentRow) -> None:
    """Store the tags, authors, aliases, links and properties of a document in place of others."""
    from kebab.text.names import compute_link_key  # a reader needs none

    lists: Mapping[str, Iterable[tuple[str, ...]]] = {
        "tags (tag": zip(row.tags, strict=True),
        "authors (author": zip(row.authors, strict=True),
        "aliases (alias": zip(row.aliases, strict=True),
        "links (target, key": [(one, compute_link_key(one)) for one in row.links],
        "properties (key, value": row.properties,
    }
    for columns, rows in lists.items():
        table, marks = columns.partition(" ")[0], ", ?" * (columns.count(",") + 1)
        database.execute(f"DELETE FROM document_{table} WHERE doc = ?", (doc,))  # noqa: S608 - a constant
        database.executemany(
            f"INSERT OR IGNORE INTO document_{columns}, doc) VALUES (?{marks})",  # noqa: S608 - constants
            ((*values, doc) for values in rows),
        )


def remove_documents(database: apsw.Connection, doc_ids: Collection[DocId]) -> int:
    """Delete documents with their chunks; return how many chunks that were."""
    ids = (to_json(doc_ids),)
    where = "WHERE doc_id IN (SELECT value FROM json_each(?))"
    rows = database.execute(f"SELECT key FROM documents JOIN chunks USING (doc) {where}", ids)  # noqa: S608 - a constant
    keys = [Key(key) for (key,) in rows]
    fts.delete_words(database, keys)
    sql = f"DELETE FROM documents {where} RETURNING asset"  # noqa: S608 - a constant
    _delete_unused_assets(database, [asset for (asset,) in database.execute(sql, ids)])
    return len(keys)


def _delete_unused_assets(database: apsw.Connection, assets: Collection[Any]) -> None:
    """Delete the contents that no document has any more."""
    database.execute(
        "DELETE FROM assets WHERE asset IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.asset = assets.asset)",
        (to_json(int(asset) for asset in assets),),
    )


def sample_files(database: apsw.Connection, limit: int) -> list[FileState]:
    """Return the files of all documents, or above the limit of those at equal steps."""
    rows = database.execute(
        "SELECT s.root, d.path, d.size, d.mtime_ns FROM documents d"
        " JOIN sources s ON s.source = d.source"
        " WHERE (d.doc - 1) % (SELECT (count(*) + ?1 - 1) / ?1 FROM documents) = 0",
        (limit,),
    )
    return [FileState(*row) for row in rows]


def measure_languages(database: apsw.Connection) -> dict[str, int]:
    """Return the bytes of the documents by language; an empty string where it is unknown."""
    rows = database.execute("SELECT coalesce(lang, ''), sum(size) FROM documents GROUP BY 1")
    return {str(code): int(size) for code, size in rows}


def load_listing(database: apsw.Connection, source: str) -> Listing:
    """Return the rules of the last complete scan of a source, and its unread files."""
    rules = database.execute("SELECT listed_rules FROM sources WHERE name = ?", (source,)).get
    sql = f"SELECT path FROM unread_files WHERE source = {SOURCE}"  # noqa: S608 - a constant
    return Listing(rules, {path for (path,) in database.execute(sql, (source,))})


def list_children(database: apsw.Connection, source: str, folder: str) -> set[str]:
    """Return the documents, unread files and folders that are known directly in a folder."""
    where, values = _match_directly_in(folder)
    children: set[str] = set()
    for table in ("documents", "unread_files", "listed_folders"):
        rows = database.execute(
            f"SELECT path FROM {table} WHERE source = {SOURCE} AND {where}",  # noqa: S608 - constants
            (source, *values),
        )
        children.update(path for (path,) in rows)
    return children


def match_below(path: str, column: str = "path") -> tuple[str, tuple[str, ...]]:
    """Return the condition for a path with its members and all below; all for an empty one."""
    if not path:
        return "1", ()
    where = " OR ".join((f"{column} = ?", *[f"{column} >= ? AND {column} < ?"] * 2))
    return f"({where})", (path, f"{path}/", f"{path}0", f"{path}{MEMBER_MARK}", f"{path}!0")


def _match_directly_in(folder: str) -> tuple[str, tuple[str | int, ...]]:
    """Return the condition for the paths directly in a folder, without the folder itself."""
    where, values = match_below(folder)
    start = len(folder) + 2 if folder else 1
    return f"{where} AND path <> ? AND instr(substr(path, ?), '/') = 0", (*values, folder, start)


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
        where, values = _match_directly_in(folder)
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
        return [(path, "; ".join(filter(is_cut, parse_strings(said)))) for path, said in rows]

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
        where, values = match_below(extent.below)
        sql = f"SELECT {columns} FROM {table} WHERE source = ? AND {where}{condition}"  # noqa: S608 - constants
        with translate_sqlite_errors(self.path, "read"):
            yield from self.database.execute(sql, (extent.number, *values))
