"""Copies databases for an archive, and checks and adapts the copies of another machine."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from kebab.core.documents import (
    EMBEDDING_VERSION,
    NEXT_VECTORS,
    OLD_VECTORS,
    STDIN,
    VECTOR_FILES,
    VECTORS_DIRTY,
    FileStamp,
    Source,
    build_last_scan_key,
    build_named_files_key,
    parse_named_files,
)
from kebab.core.files import cut_root, is_below
from kebab.core.ids import DocId, Keys
from kebab.errors.catalog import NotIndexed, StoreCorrupt
from kebab.store.archive_file import ExportedPassage, build_damage
from kebab.store.sqlite import chunks, connection, documents, fts
from kebab.store.sqlite.catalogue import find_file_faults, read_objects

SECRET_KEYS = ("cursor_salt", NEXT_VECTORS, OLD_VECTORS, VECTORS_DIRTY, VECTOR_FILES)
"""What an archive leaves out of the values: a salt, and the state of files that it has not."""


class Contents(NamedTuple):
    """What a copy of the index holds."""

    schema_version: int
    embedding_version: str | None
    documents: int
    chunks: int
    sessions: int
    sources: list[tuple[Source, int]]
    committed: Keys
    texts: dict[str, str]
    """The hashes of the texts from standard input, by the names of their files."""


class StoredFile(NamedTuple):
    """A document of a copy with its file."""

    doc_id: DocId
    source: str
    path: str
    size: int
    mtime_ns: int
    content_hash: str


def copy_index(data_dir: Path, target: Path, *, sessions: bool) -> None:
    """Write a copy of one state of the index, also while another process writes.

    It has neither cached answers nor secrets nor deleted texts, and sessions only if asked for.

    Raises:
        NotIndexed: There is no index with the schema of this build.
        IoError: The file system refused.
        StoreCorrupt: The index is damaged.
    """
    with closing(connection.open_reader(data_dir)) as database:
        _copy(database, target)
    with open_copy(target) as copy:
        copy.execute("PRAGMA secure_delete = ON")
        copy.execute("DELETE FROM query_cache")
        copy.execute("DELETE FROM vector_garbage")
        if not sessions:
            copy.execute("DELETE FROM turns")
        for name in SECRET_KEYS:
            connection.set_value(copy, name, None)


def copy_reviews(path: Path, target: Path) -> tuple[int, int]:
    """Write a copy of one state of the reviews; return its schema version and its runs.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: The database is damaged.
    """
    with (
        connection.translate_sqlite_errors(str(path), "read"),
        closing(connection.connect_read_only(path)) as database,
    ):
        version = connection.read_schema_version(database)
        if not version:
            return 0, 0
        _copy(database, target)
        return version, int(database.execute("SELECT count(*) FROM runs").get)


def _copy(database: apsw.Connection, target: Path) -> None:
    # The file of the caller is private, and SQLite takes it because it is empty.
    with connection.translate_sqlite_errors(database.filename, "read"):
        database.execute("VACUUM INTO ?", (str(target),))


@contextmanager
def open_copy(path: Path) -> Iterator[apsw.Connection]:
    """Yield a copy in a transaction; what its schema calls is not trusted.

    Raises:
        IoError: The file system refused.
        StoreCorrupt: The file is damaged.
    """
    with connection.translate_sqlite_errors(str(path), "write"):
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        with closing(database):
            database.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            database.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            with database:
                yield database


def read_contents(path: Path) -> Contents:
    """Return what a copy holds."""
    with open_copy(path) as copy:
        sources = copy.execute(
            "SELECT s.name, s.root, s.kind, count(d.doc) FROM sources s"
            " LEFT JOIN documents d ON d.source = s.source GROUP BY s.source ORDER BY s.source"
        )
        return Contents(
            schema_version=connection.read_schema_version(copy),
            embedding_version=connection.get_value(copy, EMBEDDING_VERSION),
            documents=int(copy.execute("SELECT count(*) FROM documents").get),
            chunks=int(copy.execute("SELECT count(*) FROM chunks").get),
            sessions=int(copy.execute("SELECT count(DISTINCT session) FROM turns").get),
            sources=[
                (Source(name=name, root=root, kind=kind), count)
                for name, root, kind, count in sources
            ],
            committed=chunks.list_committed_keys(copy),
            texts={
                file.path: file.content_hash for file in _list_files(copy) if file.source == STDIN
            },
        )


def mark_pending(path: Path, keys: Iterable[int]) -> None:
    """Let the next ingest embed passages whose vector is not in the archive."""
    with open_copy(path) as copy:
        copy.execute(
            "UPDATE vectors SET state = 'pending', version = NULL"
            " WHERE key IN (SELECT value FROM json_each(?))",
            (fts.to_json(keys),),
        )
        connection.advance_revision(copy)


def check_copy(path: Path, archive: Path, below: str = "") -> None:
    """Refuse a copy that kebab did not write; migrate one of an older schema.

    A file that a stranger made must not run anything, and its paths must stay in their folders.

    Raises:
        NotIndexed: Its schema is newer than that of this build.
        StoreCorrupt: It is damaged, or something in it does not come from kebab.
    """
    faults: list[str] = []
    with _name_archive(archive), open_copy(path) as copy:
        version = connection.read_schema_version(copy)
        expected = connection.get_expected_schema_version(below)
        if version > expected:
            raise NotIndexed(
                data_dir=str(archive), expected=expected, found=version, file=str(archive)
            )
        known = read_objects(connection.create_schema(below, version))
        found = read_objects(copy)
        if not version or found.keys() - known.keys():
            faults.append("its tables do not come from kebab")
    if not faults:
        with _name_archive(archive), open_copy(path) as copy:
            connection.migrate(copy, path.parent, below)
            if not below:
                fts.add_missing_names(copy)
            faults += find_file_faults(copy, below)
            faults += [] if below or faults else _find_foreign_paths(copy)
    if faults:
        raise build_damage(archive, f"{path.name}: {faults[0]}")


@contextmanager
def _name_archive(archive: Path) -> Iterator[None]:
    """Name the archive in errors, because the copy is deleted."""
    try:
        yield
    except StoreCorrupt as fault:
        raise build_damage(archive, fault.cause) from fault


def _find_foreign_paths(copy: apsw.Connection) -> Iterator[str]:
    """Yield the first source or document whose path leaves its folder."""
    for name, root, kind in copy.execute("SELECT name, root, kind FROM sources"):
        is_plain = root.startswith("/") and os.path.normpath(root) == root and "\0" not in root
        if not is_plain or kind not in ("folder", "files", "stdin"):
            yield f"not a source: {name}"
    for file in _list_files(copy):
        parts = file.path.split("/")
        if "\0" in file.path or {"", ".", ".."} & {*parts}:
            yield f"not a path below a source: {file.path}"


def _list_files(copy: apsw.Connection) -> Iterator[StoredFile]:
    rows = copy.execute(
        "SELECT d.doc_id, s.name, d.path, d.size, d.mtime_ns, a.content_hash FROM documents d"
        " JOIN sources s ON s.source = d.source JOIN assets a ON a.asset = d.asset"
        " ORDER BY s.source, d.path"
    )
    return (StoredFile(*row) for row in rows)


def list_files(path: Path) -> list[StoredFile]:
    """Return the documents of a copy."""
    with open_copy(path) as copy:
        return list(_list_files(copy))


def adapt_index(path: Path, folders: Mapping[str, str], stamps: Mapping[DocId, FileStamp]) -> None:
    """Give a copy the folders and the files of this machine.

    What was known of the folders of the other machine is forgotten, so the next ingest lists them
    and compares every file by its content.

    `folders` has the folder of each source here by the name of the source.
    """
    with open_copy(path) as copy:
        named: dict[str, str] = {}
        for name, folder in folders.items():
            key = build_named_files_key(name)
            known = documents.load_known_documents(copy, name)
            stored = parse_named_files(connection.get_value(copy, key)) & known.keys()
            connection.set_value(copy, key, None)
            connection.set_value(copy, build_last_scan_key(name), None)
            new_name = name if name == STDIN else folder
            if stored:
                named[build_named_files_key(new_name)] = json.dumps(sorted(stored))
        for key, names in named.items():
            connection.set_value(copy, key, names)
        # Two sources may change places, and names are unique.
        copy.execute("UPDATE sources SET name = '/' || source || '/' || name WHERE kind <> 'stdin'")
        for name, folder in folders.items():
            copy.execute(
                "UPDATE sources SET root = ?2, name = CASE kind WHEN 'stdin' THEN ?1 ELSE ?2 END"
                " WHERE name = CASE kind WHEN 'stdin' THEN ?1 ELSE '/' || source || '/' || ?1 END",
                (name, folder),
            )
        copy.execute("UPDATE sources SET listed_rules = NULL WHERE kind = 'folder'")
        copy.execute("DELETE FROM listed_folders")
        copy.execute("DELETE FROM unread_files")
        for doc_id, stamp in stamps.items():
            documents.update_stamp(copy, doc_id, stamp)
        copy.execute(
            "INSERT INTO kv (name, value) VALUES ('cursor_salt', lower(hex(randomblob(16))))"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        connection.advance_revision(copy)


def adapt_reviews(path: Path, folders: Mapping[str, str]) -> None:
    """Give the files of stored reviews the folders of this machine."""
    with open_copy(path) as copy:
        for run, files in copy.execute("SELECT run, files FROM run_inputs").fetchall():
            moved = [_move(str(file), folders) for file in json.loads(str(files))]
            copy.execute(
                "UPDATE run_inputs SET files = ? WHERE run = ?",
                (json.dumps(moved, ensure_ascii=False, separators=(",", ":")), run),
            )


def _move(file: str, folders: Mapping[str, str]) -> str:
    above = [name for name in folders if is_below(file, name)]
    if not above:
        return file
    nearest = max(above, key=len)
    return f"{folders[nearest]}/{cut_root(file, nearest)}"


def list_chunk_ids(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the key, the chunk and the document of every committed passage, by key."""
    with open_copy(path) as copy:
        yield from copy.execute(
            "SELECT v.key, c.chunk_id, d.doc_id FROM vectors v JOIN chunks c ON c.key = v.key"
            " JOIN documents d ON d.doc = c.doc WHERE v.state = 'committed' ORDER BY v.key"
        )


def iterate_passages(path: Path) -> Iterator[ExportedPassage]:
    """Yield every passage of a copy in the order of their keys."""
    with open_copy(path) as copy:
        for row in copy.execute(
            "SELECT c.key, c.chunk_id, d.doc_id, s.name, d.path, d.title, c.heading_path, c.text,"
            " c.start_line, c.end_line, c.text_hash, d.lang, d.media,"
            " (SELECT json_group_array(t.tag) FROM document_tags t WHERE t.doc = d.doc),"
            " CASE v.state WHEN 'committed' THEN v.version END"
            " FROM chunks c JOIN documents d ON d.doc = c.doc"
            " JOIN sources s ON s.source = d.source JOIN vectors v ON v.key = c.key"
            " ORDER BY c.key"
        ):
            passage: ExportedPassage = ExportedPassage(*row)
            yield passage._replace(
                heading_path=fts.parse_strings(row[6]), tags=fts.parse_strings(row[13])
            )


def finish_copy(path: Path, values: Mapping[str, str]) -> None:
    """Store values, and let the copy keep a log as every index of kebab does."""
    with open_copy(path) as copy:
        for name, value in values.items():
            connection.set_value(copy, name, value)
    with (
        connection.translate_sqlite_errors(str(path), "write"),
        closing(apsw.Connection(str(path))) as database,
    ):
        database.execute("PRAGMA journal_mode = WAL")


def count_documents(data_dir: Path) -> int | None:
    """Return how many documents an index has, -1 when it cannot be read, None without one.

    An index without documents, sessions and sources counts as none.
    """
    try:
        with closing(connection.open_reader(data_dir)) as database:
            count = int(database.execute("SELECT count(*) FROM documents").get)
            others = "SELECT count(*) FROM (SELECT 1 FROM sources UNION ALL SELECT 1 FROM turns)"
            return count if count or database.execute(others).get else None
    except NotIndexed as missing:
        return None if missing.details()["found"] is None else -1
    except (StoreCorrupt, apsw.Error):
        return -1
