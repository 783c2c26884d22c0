"""Contains documents, what they share, and the other known files: unread ones, and folders.

The plan of a run is stored before its files are read. A row leaves it with the transaction that
stores the document, so that after a kill the rest is what was not read.
"""

from collections.abc import Collection, Iterable, Mapping
from sys import intern
from typing import Any

import apsw

from kebab.core.chunks import DocId, Key
from kebab.core.documents import (
    DocumentRow,
    FileStamp,
    KnownDocument,
    Listing,
    Source,
    is_partial,
)
from kebab.core.files import FileState
from kebab.store.sqlite import fts
from kebab.store.sqlite.fts import clamp_to_signed, parse_strings, to_json, to_nanoseconds

_INODES = 1 << 64
"""Inodes have no sign, integers of SQLite do; some file systems use all bits."""


def load_known_documents(
    database: apsw.Connection, source: str, at: Collection[str] | None = None
) -> dict[str, KnownDocument]:
    """Return the documents of a source by path: all, or those at some paths and below them."""
    known: dict[str, KnownDocument] = {}
    for below in [""] if at is None else at:
        where, values = fts.match_below(below, "d.path")
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
    where, values = fts.match_directly_in(folder)
    children: set[str] = set()
    for table in ("documents", "unread_files", "listed_folders"):
        rows = database.execute(
            f"SELECT path FROM {table} WHERE source = {SOURCE} AND {where}",  # noqa: S608 - constants
            (source, *values),
        )
        children.update(path for (path,) in rows)
    return children
