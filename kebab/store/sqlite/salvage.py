"""Rebuilds a damaged database from the rows that can still be read, and repairs broken rows.

A salvage writes a draft beside the database: a fresh schema with every row that `pages.py` reads.
`repair_rows` then restores the rules between the rows. What can be derived is not copied but
written again: the word index, the names of documents, the counts. Documents that lost something get
an empty recipe, so that the next ingest reads their files again.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from operator import ne
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from msgspec import Struct, field
from msgspec.structs import astuple

from kebab.core.chunks import build_embed_text
from kebab.core.documents import (
    CURSOR_SALT,
    EMBEDDING_VERSION,
    Source,
    build_last_scan_key,
    is_misplaced,
)
from kebab.core.ids import Key, compute_digest, make_doc_id
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.platform import rename_over, sync_path
from kebab.store.sqlite import chunks, connection, documents, fts
from kebab.store.sqlite.catalogue import find_file_faults
from kebab.store.sqlite.connection import create_schema, translate_sqlite_errors
from kebab.store.sqlite.pages import Column, DatabasePages, Row, Table
from kebab.store.sqlite.reviews import MIGRATIONS as REVIEWS

_DERIVED = ("chunks_", "sqlite_", "document_names", "query_cache")
"""The beginnings of the names of tables that are written again from others, or are a cache."""
_WAIT_MS = 5_000
_DAMAGED_DIGITS = 4
"""How many digits of an id may be damaged; in two ids of 32 digits 30 differ by chance."""
_SAFE_KEYS = 1_000_000
"""How far keys go on above the highest one that was found: a lost chunk may have had a higher one,
and the vector store knows chunks by key."""
LOST_TEXT = "damaged passages are left out"
"""The warning of a document whose file is gone; `is_partial` knows it by its last words."""


def read_tables(below: str = "") -> dict[str, Table]:
    """Return the tables of this build that hold what cannot be derived."""
    with closing(create_schema(below)) as fresh:
        listed: list[Any] = fresh.execute(
            "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        ).fetchall()
        return {
            name: Table(name, _read_columns(fresh, name, has_row_ids=not without), not without)
            for name, without in sorted(listed)
            if not name.startswith(_DERIVED)
        }


def _read_columns(
    database: apsw.Connection, table: str, *, has_row_ids: bool
) -> tuple[Column, ...]:
    rows: list[Any] = database.execute(f"PRAGMA table_info({table})").fetchall()
    keys = sum(bool(row[5]) for row in rows)
    return tuple(
        Column(
            name=name,
            type=kind,
            required=bool(not_null) or bool(key),
            default=None if default is None else database.execute(f"SELECT {default}").get,
            is_row_id=bool(key) and keys == 1 and kind == "INTEGER" and has_row_ids,
        )
        for _, name, kind, not_null, default, key in rows
    )


class LostPassages(NamedTuple):
    """A document that lost passages and whose file is gone, and how many are left."""

    path: str
    left: int


class RowRepairs(Struct):
    """What `repair_rows` did.

    `again` are the files of the documents that are to be read again, `partial` the documents whose
    file is gone. With `rescan` documents may be missing altogether, so that only a scan of the
    sources finds their files. `unplaced` counts passages without a document, `sources` what is left
    of the sources.
    """

    again: list[str] = field(default_factory=list)
    partial: list[LostPassages] = field(default_factory=list)
    unplaced: int = 0
    rescan: bool = False
    sources: int = 0


class Salvaged(NamedTuple):
    """The tables that lost rows, and the schema version in the file."""

    torn: Collection[str]
    version: int


def salvage_database(path: Path, draft: Path, below: str = "") -> Salvaged:
    """Write a fresh database with every row that can be read in a damaged one, its log included.

    Raises:
        IoError: A file cannot be read or written.
        StoreCorrupt: The draft cannot be written.
    """
    with translate_os_errors(path, "read"):
        pages = DatabasePages(path)
        _unlink(draft, ("", *_LOG_ENDS))
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with (
        translate_sqlite_errors(str(draft), "write"),
        closing(apsw.Connection(str(draft))) as database,
    ):
        connection.migrate(database, draft.parent, below)
        roots = pages.read_roots()
        if not roots:
            # Tables lie where the same migrations put them in a fresh file.
            listed: list[Any] = database.execute(
                "SELECT name, rootpage FROM sqlite_schema"
            ).fetchall()
            roots = dict(listed)
        with database:
            for table in read_tables(below).values():
                _insert_rows(database, table, pages.read_table(table, roots.get(table.name)))
            for table, rows in pages.adopt_leaves():
                _insert_rows(database, table, rows)
    return Salvaged([table.name for table in pages.torn], pages.user_version)


def _insert_rows(database: apsw.Connection, table: Table, rows: Iterable[Row]) -> None:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    places = ", ".join("?" for _ in table.columns)
    # A fresh index has its own salt and revision, which the stored ones replace.
    verb = "REPLACE" if table.name == "kv" else "IGNORE"
    database.executemany(
        f"INSERT OR {verb} INTO {table.name} ({names}) VALUES ({places})",  # noqa: S608 - of our schema
        rows,
    )


_LOG_ENDS = ("-wal", "-shm", "-journal")
DRAFT_SUFFIX = ".repaired"


def rebuild_database(
    path: Path,
    draft: Path,
    tokens: fts.Tokenizer,
    sources: Iterable[Source] = (),
    *,
    keep: bool = True,
) -> RowRepairs:
    """Rebuild the database of the index from what can be read of it.

    The caller holds the writer lock. Without `keep` only the draft is written, for a plan.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: The rebuilt database is not sound; nothing was replaced.
    """
    with _delete_draft(draft), _hold_writers(path) if keep else nullcontext():
        salvaged = salvage_database(path, draft)
        with translate_sqlite_errors(str(draft), "write"), closing(_open_draft(draft)) as database:
            done = repair_rows(
                database,
                sources,
                salvaged.torn,
                distrust=salvaged.version != connection.get_expected_schema_version(),
            )
            if keep:
                with database:
                    chunks.rebuild_word_index(database, tokens)
                    chunks.store_pending_count(database)
                if faults := find_file_faults(database):
                    raise StoreCorrupt(path=str(draft), cause="; ".join(faults))
        if keep:
            with translate_os_errors(path, "write"):
                replace_database(path, draft)
    return done


def rebuild_reviews(path: Path, draft: Path) -> None:
    """Rebuild the database of the reviews; a run that lost its inputs is left out.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: The rebuilt database is not sound; nothing was replaced.
    """
    with _delete_draft(draft), _hold_writers(path):
        salvage_database(path, draft, REVIEWS)
        with translate_sqlite_errors(str(draft), "write"), closing(_open_draft(draft)) as database:
            with database:
                database.execute(
                    "DELETE FROM runs WHERE run NOT IN (SELECT run FROM run_inputs"
                    " WHERE json_valid(files))"
                )
                for table in ("run_inputs", "documents", "units", "cursors", "pages"):
                    database.execute(
                        f"DELETE FROM {table} WHERE run NOT IN (SELECT run FROM runs)"  # noqa: S608 - constants
                    )
            if faults := find_file_faults(database, REVIEWS):
                raise StoreCorrupt(path=str(draft), cause="; ".join(faults))
        with translate_os_errors(path, "write"):
            replace_database(path, draft)


def _open_draft(draft: Path) -> apsw.Connection:
    database = apsw.Connection(str(draft))
    database.execute("PRAGMA synchronous = OFF")  # the file is synchronised before it is used
    fts.create_write_buffer(database)
    return database


@contextmanager
def _delete_draft(draft: Path) -> Iterator[None]:
    """Delete a draft that was not put in its place."""
    try:
        yield
    finally:
        with suppress(OSError):
            _unlink(draft, ("", *_LOG_ENDS))


@contextmanager
def _hold_writers(path: Path) -> Iterator[None]:
    """Keep other processes from writing to a database, as far as SQLite can still open it.

    The files of its log are removed in the block, so closing must not touch them any more.
    """
    with ExitStack() as undo:
        with suppress(apsw.Error):
            database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            undo.callback(database.close)
            database.set_busy_timeout(_WAIT_MS)
            connection.configure_side_writer(database)
            database.execute("BEGIN IMMEDIATE")
        yield


def _unlink(path: Path, ends: Iterable[str]) -> None:
    for end in ends:
        path.with_name(path.name + end).unlink(missing_ok=True)


def replace_database(path: Path, draft: Path) -> None:
    """Put a draft in the place of a database.

    The log of the old file would be applied to the new one, so its pages are written into the old
    file first: a kill at any point leaves a file with everything that could be read.
    """
    pages = DatabasePages(path) if path.exists() else None
    if pages is not None and pages.logged:
        with path.open("r+b") as file:
            for number, page in pages.logged.items():
                file.seek((number - 1) * pages.size)
                file.write(page)
            file.flush()
            os.fsync(file.fileno())
    sync_path(draft)
    _unlink(path, _LOG_ENDS)
    rename_over(draft, path)
    _unlink(draft, _LOG_ENDS)


def repair_rows(
    database: apsw.Connection,
    sources: Iterable[Source] = (),
    torn: Collection[str] = (),
    *,
    distrust: bool = False,
) -> RowRepairs:
    """Restore the rules between rows, and mark the documents that lost something.

    Args:
        database: The database, outside of a transaction.
        sources: What may have been the sources whose row is lost.
        torn: The tables that lost rows.
        distrust: Whether every document is read again, because its rows come from another schema.
    """
    done = RowRepairs(rescan=bool({"documents", "sources", "assets"} & set(torn)))
    database.execute("PRAGMA foreign_keys = OFF")
    with database:
        done.rescan |= _restore_sources(database, sources)
        database.execute("DELETE FROM documents WHERE source NOT IN (SELECT source FROM sources)")
        done.unplaced = int(
            database.execute(
                "SELECT count(*) FROM chunks WHERE doc NOT IN (SELECT doc FROM documents)"
            ).get
        )
        done.rescan |= done.unplaced > 0
        _delete_broken_chunks(database)
        _repair_values(database)
        database.execute(_REPAIRS)
        marked = set(documents.find_changed_documents(database))
        marked.update(doc for (doc,) in database.execute(_MARKED, (distrust, bool(torn))))
        _mark_documents(database, marked, done)
        database.execute("DELETE FROM document_names")
        fts.add_missing_names(database)
        if done.rescan:
            database.execute("UPDATE sources SET listed_rules = NULL WHERE kind = 'folder'")
        connection.advance_revision(database)
        chunks.store_pending_count(database)
        done.sources = int(database.execute("SELECT count(*) FROM sources").get)
    return done


_REPAIRS = """
    -- The hash of the content is lost: the document is read again, or keeps what it has.
    INSERT OR IGNORE INTO assets (asset, content_hash, size)
        SELECT asset, 'lost ' || asset, size FROM documents
        WHERE asset NOT IN (SELECT asset FROM assets);
    DELETE FROM assets WHERE asset NOT IN (SELECT asset FROM documents);
    DELETE FROM document_tags WHERE doc NOT IN (SELECT doc FROM documents);
    DELETE FROM document_authors WHERE doc NOT IN (SELECT doc FROM documents);
    DELETE FROM document_aliases WHERE doc NOT IN (SELECT doc FROM documents);
    DELETE FROM document_links WHERE doc NOT IN (SELECT doc FROM documents);
    DELETE FROM unread_files WHERE source NOT IN (SELECT source FROM sources);
    DELETE FROM listed_folders WHERE source NOT IN (SELECT source FROM sources);
    INSERT OR IGNORE INTO vector_garbage (key) SELECT key FROM vectors
        WHERE state = 'committed' AND key NOT IN (SELECT key FROM chunks);
    DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks);
    INSERT INTO vectors (key, state) SELECT key, 'pending' FROM chunks
        WHERE key NOT IN (SELECT key FROM vectors);
    UPDATE vectors SET state = 'pending', version = NULL WHERE state <> 'pending'
        AND version IS NOT (SELECT value FROM kv WHERE name = 'embedding_version');
    DELETE FROM vector_garbage WHERE key IN (SELECT key FROM chunks);
"""

_MARKED = (
    "SELECT doc FROM documents WHERE ?1 OR (checksum = '' AND ?2) OR recipe = ''"
    " OR asset IN (SELECT asset FROM assets WHERE content_hash GLOB 'lost *')"
    " UNION SELECT doc FROM chunks WHERE start > end OR start_line > end_line"
    " OR start < 0 OR start_line < 1"
    " UNION SELECT doc FROM chunks GROUP BY doc"
    " HAVING max(ordinal) - min(ordinal) + 1 <> count(*) OR min(ordinal) <> 0"
)
"""The documents that lost something although their checksum does not tell."""


def _restore_sources(database: apsw.Connection, sources: Iterable[Source]) -> bool:
    """Restore lost and damaged sources; return whether a row was lost.

    Two things prove the name of a source: the ids of its documents, and the key of the time when it
    was last scanned as a whole. Both are digests of it.
    """
    known = {source.name: source for source in (*sources, *_list_candidates(database))}
    rows: list[Any] = database.execute(
        "SELECT d.source, d.doc_id, d.path FROM documents d LEFT JOIN sources s"
        " ON s.source = d.source WHERE s.source IS NULL"
    ).fetchall()
    stored: list[Any] = database.execute("SELECT name, root FROM sources").fetchall()
    owners: dict[int, Source] = {}
    for number, doc_id, path in rows:
        for source in known.values() if number not in owners else ():
            if make_doc_id(source.name, path) == doc_id:
                owners[number] = source
    for number, source in owners.items():
        database.execute(
            "INSERT OR REPLACE INTO sources (source, name, root, kind, listed_rules)"
            " VALUES (?, ?, ?, ?, ?)",
            (number, *astuple(source), None if source.kind == "folder" else ""),
        )
    for name, root in stored:
        if is_misplaced(name, root):
            database.execute("UPDATE sources SET root = name WHERE name = ?", (name,))
    before = database.total_changes()
    for source in known.values():
        scanned = connection.get_value(database, build_last_scan_key(source.name))
        if scanned is not None:
            database.execute(
                "INSERT OR IGNORE INTO sources (name, root, kind) VALUES (?, ?, ?)", astuple(source)
            )
    return bool(rows) or database.total_changes() > before


def _list_candidates(database: apsw.Connection) -> Iterator[Source]:
    """Yield what may have been a source: the stored ones, and the scopes of the stored runs."""
    stored: list[Any] = database.execute("SELECT name, root, kind FROM sources").fetchall()
    for name, root, kind in stored:
        for path in {name, root} if kind != "stdin" else ():
            yield Source(name=path, root=path, kind=kind)
    scopes: list[Any] = database.execute("SELECT DISTINCT scope FROM runs").fetchall()
    for (scope,) in scopes:
        # Absolute paths are joined by blanks, and may have blanks.
        for path in {scope, *f" {scope}".split(" /")}:
            absolute = path if path.startswith("/") else f"/{path}"
            yield Source(name=absolute, root=absolute, kind="folder")


def _delete_broken_chunks(database: apsw.Connection) -> None:
    """Delete the passages without a document, and those whose text is not what was indexed."""
    broken: list[Key] = []
    rows: list[Any] = database.execute(
        "SELECT c.key, c.heading_path, c.context, c.text, c.text_hash, c.embed_hash, d.title"
        " FROM chunks c LEFT JOIN documents d ON d.doc = c.doc"
    ).fetchall()
    for key, *row in rows:
        if row[-1] is None or chunks.find_text_fault(*row) == "text":
            broken.append(Key(key))
    chunks.delete_chunks(database, broken)


def _repair_values(database: apsw.Connection) -> None:
    """Replace values of the key-value table that cannot be right."""
    rows: list[Any] = database.execute("SELECT name, value FROM kv").fetchall()
    values: dict[str, str] = dict(rows)
    if not values.get(connection.REVISION, "").isdecimal():
        # Higher than any revision that this index can have had.
        revision = int(database.execute("SELECT unixepoch()").get)
        connection.set_value(database, connection.REVISION, str(revision))
    if not values.get(CURSOR_SALT):
        salt = str(database.execute("SELECT lower(hex(randomblob(16)))").get)
        connection.set_value(database, CURSOR_SALT, salt)
    # One transaction gives all vectors their version, so that of the most is the right one.
    version = database.execute(
        "SELECT version FROM vectors WHERE state = 'committed' GROUP BY 1 ORDER BY count(*) DESC"
    ).fetchone()
    if version is not None and version[0] is not None:
        connection.set_value(database, EMBEDDING_VERSION, version[0])
    highest = database.execute(
        "SELECT max((SELECT coalesce(max(key), 0) FROM chunks),"
        " (SELECT coalesce(max(key), 0) FROM vector_garbage))"
    ).get
    database.execute("DELETE FROM sqlite_sequence WHERE name = 'chunks'")
    database.execute(
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('chunks', ?)", (highest + _SAFE_KEYS,)
    )


def _mark_documents(database: apsw.Connection, marked: Collection[int], done: RowRepairs) -> None:
    """Let documents be read again; one whose file is gone keeps the passages that are left."""
    for doc in sorted(marked):
        name, root, path, doc_id, warnings = database.execute(
            "SELECT s.name, s.root, d.path, d.doc_id, d.warnings FROM documents d"
            " JOIN sources s USING (source) WHERE d.doc = ?",
            (doc,),
        ).get
        first_id = make_doc_id(name, path)
        # The id of a document that has moved has nothing in common with that of its path.
        if 0 < sum(map(ne, doc_id, first_id)) <= _DAMAGED_DIGITS:
            database.execute(
                "UPDATE OR IGNORE documents SET doc_id = ? WHERE doc = ?", (first_id, doc)
            )
        file = os.path.join(root, path)  # noqa: PTH118 - a plain string
        if os.path.exists(file):  # noqa: PTH110 - as above
            # The checksum stays wrong until the document is stored again.
            database.execute(
                "UPDATE documents SET recipe = '', checksum = '-' WHERE doc = ?", (doc,)
            )
            done.again.append(file)
            continue
        said: tuple[str, ...] = ()
        with suppress(ValueError):
            said = fts.parse_strings(warnings)
        database.execute(
            "UPDATE documents SET partial = 1, warnings = ? WHERE doc = ?",
            (fts.to_json(dict.fromkeys((*said, LOST_TEXT))), doc),
        )
        done.partial.append(LostPassages(file, _accept_chunks(database, doc)))
        documents.store_checksum(database, doc)


def _accept_chunks(database: apsw.Connection, doc: int) -> int:
    """Make the passages of a document consistent as they are; return how many there are."""
    rows: list[Any] = database.execute(
        "SELECT c.key, c.heading_path, c.context, c.text, c.text_hash, c.embed_hash, d.title"
        " FROM chunks c JOIN documents d USING (doc) WHERE doc = ? ORDER BY c.ordinal, c.key",
        (doc,),
    ).fetchall()
    for ordinal, (key, *row) in enumerate(rows):
        database.execute(
            "UPDATE chunks SET ordinal = ?, start = max(0, start),"
            ' "end" = max(0, start, "end"), start_line = max(1, start_line),'
            " end_line = max(1, start_line, end_line) WHERE key = ?",
            (ordinal, key),
        )
        if chunks.find_text_fault(*row):
            (heading_path, context, text, *_, title) = row
            headings = chunks.read_headings(heading_path)
            embedded = build_embed_text(title, headings, text, context)
            database.execute(
                "UPDATE chunks SET heading_path = ?, embed_hash = ? WHERE key = ?",
                (fts.to_json(headings), compute_digest(embedded), key),
            )
            database.execute("UPDATE vectors SET state = 'pending' WHERE key = ?", (key,))
    return len(rows)
